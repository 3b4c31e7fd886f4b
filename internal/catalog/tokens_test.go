package catalog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mcpx/internal/schema"
)

// countTokens asks a tokenizer from npm for the tokens of each text.
func countTokens(t *testing.T, texts []string) []int {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node to run the tokenizer with")
	}
	const npm = "../../testdata/npm"
	if _, err := os.Stat(filepath.Join(npm, "node_modules", "js-tiktoken")); err != nil {
		t.Skip("the tokenizer is not installed: run npm ci in testdata/npm")
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, "--input-type=module", "-e", `
import { Tiktoken } from "js-tiktoken/lite";
import ranks from "js-tiktoken/ranks/o200k_base";
import { readFileSync } from "node:fs";
const tokenizer = new Tiktoken(ranks);
for (const text of JSON.parse(readFileSync(0, "utf8"))) console.log(tokenizer.encode(text, [], []).length);`)
	cmd.Dir = npm
	cmd.Stdin = bytes.NewReader(in)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("the tokenizer: %v\n%s", err, stderr.String())
	}
	var counts []int
	for word := range strings.FieldsSeq(string(out)) {
		n, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, n)
	}
	if len(counts) != len(texts) {
		t.Fatalf("the tokenizer counted %d texts of %d", len(counts), len(texts))
	}
	return counts
}

// TestTokens compares the estimate with the tokenizer that it follows.
func TestTokens(t *testing.T) {
	t.Parallel()
	type sample struct {
		name, text string
		percent    int // how far the estimate may be off
	}
	var samples []sample
	var all []string
	for _, d := range servers(t) {
		all = append(all, schema.Signature(d.Tool.Name, d.Tool.InputSchema, d.Tool.OutputSchema))
	}
	for i := 0; i < len(all); i += 100 {
		samples = append(samples, sample{fmt.Sprintf("signatures from %d", i), strings.Join(all[i:min(len(all), i+100)], "\n"), 10})
	}
	files, err := filepath.Glob("testdata/servers/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../../README.md", "../schema/testdata/declarations.d.ts", "search.go") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, sample{filepath.Base(file), string(text), 10})
		if filepath.Ext(file) == ".json" {
			var compact bytes.Buffer
			if err := json.Compact(&compact, text); err != nil {
				t.Fatal(err)
			}
			samples = append(samples, sample{filepath.Base(file) + " without space", compact.String(), 10})
		}
	}
	samples = append(samples,
		sample{"German", strings.Repeat("Erstellt einen neuen Vorgang in einem Verzeichnis und gibt dessen Größe zurück, wenn die Datei noch nicht geöffnet wurde. ", 5), 20},
		sample{"French", strings.Repeat("Crée un nouveau fichier dans le répertoire indiqué, ou remplace le contenu de celui qui existe déjà. ", 5), 20},
		sample{"Russian", strings.Repeat("Создаёт новую задачу в указанном репозитории и возвращает её номер. ", 5), 20},
		sample{"Chinese", strings.Repeat("在指定的存储库中创建一个新问题，并返回其编号。查询数据库中的所有记录。", 5), 20},
		sample{"Japanese", strings.Repeat("指定されたファイルの内容を読み取り、テキストとして返します。", 5), 20},
	)
	var texts []string
	for _, s := range samples {
		texts = append(texts, s.text)
	}
	for i, want := range countTokens(t, texts) {
		got := Tokens(texts[i])
		off := 100 * float64(got-want) / float64(want)
		t.Logf("%-40s %6d of %6d, %+.1f %%", samples[i].name, got, want, off)
		if max(off, -off) > float64(samples[i].percent) {
			t.Errorf("Tokens(%s) = %d, the tokenizer counts %d: %+.1f %%, want at most %d %%", samples[i].name, got, want, off, samples[i].percent)
		}
	}
}

func FuzzTokens(f *testing.F) {
	for _, text := range []string{"", "a", " ", "\n\n", "HTTPServer isn't 12345 …", "\xff\xfe", "e\u0301 \u0301", " \r\n x", "a'", "1'"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n := Tokens(text); n < 0 || n > 2*len(text)+1 || n == 0 && len(text) > 0 {
			t.Errorf("Tokens(%q) = %d", text, n)
		}
	})
}

func BenchmarkTokens(b *testing.B) {
	text, err := os.ReadFile("testdata/servers/github.json")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Tokens(string(text))
	}
}
