package artifact

import (
	"mime"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
)

// mediaType is the type of data: the one that is given, else what the name says, else
// what the bytes look like.
func mediaType(kind, name string, data []byte) string {
	if _, _, err := mime.ParseMediaType(kind); kind != "" && err == nil && len(kind) < 128 {
		return kind
	}
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".csv":
		return "text/csv; charset=utf-8"
	case ".md":
		return "text/markdown; charset=utf-8"
	case ".jsonl", ".ndjson":
		return "application/x-ndjson"
	default:
		if known := mime.TypeByExtension(ext); known != "" {
			return known
		}
	}
	return http.DetectContentType(data)
}

// maxName is how long a name may be.
const maxName = 120

// Clean makes a harmless file name of any text: the last component of a path, without
// what a shell, a file system or a terminal could take for something else. It never
// refuses, and what it returns it returns unchanged.
func Clean(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._+-", r):
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	name = strings.TrimRight(strings.TrimLeft(b.String(), ".-"), ".")
	if len(name) > maxName {
		ext := path.Ext(name)
		if len(ext) > maxName/4 {
			ext = ""
		}
		name = strings.TrimRight(name[:maxName-len(ext)], ".") + ext
	}
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch {
	case name == "":
		return "artifact"
	case slices.Contains([]string{"CON", "PRN", "AUX", "NUL"}, stem),
		len(stem) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT")) && stem[3] >= '0' && stem[3] <= '9':
		return "_" + name
	}
	return name
}

// Distinct returns the name, or one with -1, -2 and so on before its extension if it is
// taken.
func Distinct(name string, taken func(name string) bool) string {
	if !taken(name) {
		return name
	}
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	if stem == "" {
		stem, ext = name, ""
	}
	numbered := func(n int) string {
		number := "-" + strconv.Itoa(n)
		return stem[:min(len(stem), max(1, maxName-len(number)-len(ext)))] + number + ext
	}
	// Where many are taken they are not tried one by one: a run can name as many as it likes.
	const few = 16
	last, free := 0, 1
	for taken(numbered(free)) {
		if last = free; free < few {
			free++
		} else {
			free *= 2
		}
	}
	for free-last > 1 {
		if n := last + (free-last)/2; taken(numbered(n)) {
			last = n
		} else {
			free = n
		}
	}
	return numbered(free)
}
