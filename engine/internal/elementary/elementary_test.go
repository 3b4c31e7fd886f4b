package elementary

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestResultsAreTheNearestNumbers(t *testing.T) {
	t.Parallel()
	one := map[string]func(float64) float64{
		"sin": Sin, "cos": Cos, "tan": Tan, "asin": Asin, "acos": Acos, "atan": Atan, "sinh": Sinh, "cosh": Cosh, "tanh": Tanh,
		"exp": Exp, "log10": Log10, "log2": Log2, "cbrt": Cbrt,
	}
	two := map[string]func(x, y float64) float64{"pow": Pow, "atan2": Atan2}
	text, err := os.ReadFile("testdata/values.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		numbers := make([]float64, 0, len(fields)-1)
		for _, f := range fields[1:] {
			n, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatal(err)
			}
			numbers = append(numbers, n)
		}
		var got float64
		switch f, g := one[fields[0]], two[fields[0]]; {
		case f != nil:
			got = f(numbers[0])
		case g != nil:
			got = g(numbers[0], numbers[1])
		default:
			t.Fatalf("unknown function %q", fields[0])
		}
		seen[fields[0]]++
		if want := numbers[len(numbers)-1]; math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%s = %v, want %v", strings.Join(fields[:len(fields)-1], " "), got, want)
		}
	}
	if len(seen) != len(one)+len(two) {
		t.Errorf("values for %d functions, want %d", len(seen), len(one)+len(two))
	}
}

func TestSpecialArguments(t *testing.T) {
	t.Parallel()
	inf, nan, zero := math.Inf(1), math.NaN(), math.Copysign(0, -1)
	for name, c := range map[string]struct{ got, want float64 }{
		"1 ** Infinity":       {Pow(1, inf), nan},
		"(-1) ** -Infinity":   {Pow(-1, -inf), nan},
		"1 ** NaN":            {Pow(1, nan), nan},
		"NaN ** 0":            {Pow(nan, 0), 1},
		"(-8) ** (1/3)":       {Pow(-8, 1.0/3), nan},
		"(-2) ** 3":           {Pow(-2, 3), -8},
		"(-2) ** -3":          {Pow(-2, -3), -0.125},
		"(-0) ** 3":           {Pow(zero, 3), zero},
		"0 ** -1":             {Pow(0, -1), inf},
		"(-Infinity) ** 3":    {Pow(-inf, 3), -inf},
		"2 ** 1024":           {Pow(2, 1024), inf},
		"2 ** -1075":          {Pow(2, -1075), 0},
		"(-3) ** 1e300":       {Pow(-3, 1e300), inf},
		"1.5 ** -Infinity":    {Pow(1.5, -inf), 0},
		"exp(-Infinity)":      {Exp(-inf), 0},
		"exp(710)":            {Exp(710), inf},
		"exp(0)":              {Exp(0), 1},
		"log10(0)":            {Log10(0), -inf},
		"log10(-1)":           {Log10(-1), nan},
		"log2(Infinity)":      {Log2(inf), inf},
		"log2(1)":             {Log2(1), 0},
		"cbrt(-0)":            {Cbrt(zero), zero},
		"cbrt(-Infinity)":     {Cbrt(-inf), -inf},
		"sin(-0)":             {Sin(zero), zero},
		"sin(Infinity)":       {Sin(inf), nan},
		"cos(-Infinity)":      {Cos(-inf), nan},
		"cos(0)":              {Cos(0), 1},
		"tan(-0)":             {Tan(zero), zero},
		"asin(2)":             {Asin(2), nan},
		"asin(-1)":            {Asin(-1), -math.Pi / 2},
		"acos(1)":             {Acos(1), 0},
		"acos(-1)":            {Acos(-1), math.Pi},
		"atan(-0)":            {Atan(zero), zero},
		"atan(Infinity)":      {Atan(inf), math.Pi / 2},
		"atan2(-0, -1)":       {Atan2(zero, -1), -math.Pi},
		"atan2(0, -0)":        {Atan2(0, zero), math.Pi},
		"atan2(NaN, 1)":       {Atan2(nan, 1), nan},
		"atan2(1, -Infinity)": {Atan2(1, -inf), math.Pi},
		"sinh(-0)":            {Sinh(zero), zero},
		"sinh(-Infinity)":     {Sinh(-inf), -inf},
		"sinh(NaN)":           {Sinh(nan), nan},
		"cosh(-Infinity)":     {Cosh(-inf), inf},
		"cosh(0)":             {Cosh(0), 1},
		"tanh(-0)":            {Tanh(zero), zero},
		"tanh(-Infinity)":     {Tanh(-inf), -1},
		"tanh(NaN)":           {Tanh(nan), nan},
	} {
		if math.Float64bits(c.got) != math.Float64bits(c.want) && !(math.IsNaN(c.got) && math.IsNaN(c.want)) {
			t.Errorf("%s = %v, want %v", name, c.got, c.want)
		}
	}
}

func BenchmarkPow(b *testing.B) {
	x := 1.0
	for b.Loop() {
		x += Pow(1.05, x/(x+1))
	}
}

func BenchmarkSin(b *testing.B) {
	x := 1.0
	for b.Loop() {
		x += Sin(x) + 1
	}
}
