package config

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"mcpx/internal/fault"
)

func encode16(s string) []uint16 { return utf16.Encode([]rune(s)) }

func TestExpand(t *testing.T) {
	t.Parallel()
	values := map[string]string{
		"env:HOST": "h.test", "env:EMPTY": "", "env:TRICKY": "${HOST}", "env:_a1": "under",
		"folder:workspaceFolder": "/w", "folder:userHome": "/home/u", "input:api-key": "typed",
		"folder:workspaceFolderBasename": "w", "folder:/": "|", "folder:pathSeparator": "|", "file:~/a b.txt": "held ", "file:c": "also",
	}
	value := func(r reference) (string, bool, error) {
		v, ok := values[r.form+":"+r.name]
		if !ok && !r.fallback {
			return "", false, errors.New("unset " + r.name)
		}
		return v, ok && (v != "" || !r.fallback), nil
	}
	cases := []struct{ in, want string }{
		{"", ""},
		{"plain", "plain"},
		{"${HOST}", "h.test"},
		{"${env:HOST}", "h.test"},
		{"$env:HOST", "h.test"},
		{"{env:HOST}", "h.test"},
		{"$env:HOST/x", "h.test/x"},
		{"$env:HOST.x", "h.test.x"},
		{"${_a1}", "under"},
		{"a${HOST}b${env:HOST}c", "ah.testbh.testc"},
		{"${HOST}:${PORT:-8443}", "h.test:8443"},
		{"${PORT:-}", ""},
		{"${PORT:-fall back}", "fall back"},
		{"${env:PORT:-80}", "80"},
		{"${EMPTY}", ""},
		{"${EMPTY:-full}", "full"},
		{"${PORT:-${HOST}}", "h.test"},
		{`${PORT:-{"a":1}}`, `{"a":1}`},
		{"${HOST:-${UNSET}}", "h.test"}, // a default that is not needed is not looked at
		{"${TRICKY}", "${HOST}"},        // one pass
		{"${workspaceFolder}/src", "/w/src"},
		{"${userHome}", "/home/u"},
		{"${input:api-key}", "typed"},
		{"${workspaceFolderBasename}${/}x${pathSeparator}", "w|x|"},
		{"{file:~/a b.txt}${file:c}", "held also"},
		// A dollar sign before a placeholder escapes it.
		{"$${HOST}", "${HOST}"},
		{"$$${HOST}", "$h.test"},
		{"$$$${HOST}", "$${HOST}"},
		{"$$env:HOST", "$env:HOST"},
		{"$${env:HOST}", "${env:HOST}"},
		// What is no placeholder is text.
		{"$HOST", "$HOST"},
		{"%HOST%", "%HOST%"},
		{"{HOST}", "{HOST}"},
		{"pa$$word$1", "pa$$word$1"},
		{"$${HOST", "$${HOST"},
		{"${HOST", "${HOST"},
		{"${", "${"},
		{"$", "$"},
		{"${}", "${}"},
		{"${1}", "${1}"},
		{"${HOST-x}", "${HOST-x}"},
		{"${config:x}", "${config:x}"},
		{"${input:}", "${input:}"},
		{"{env:}", "{env:}"},
		{"{file:}", "{file:}"},
		{"{file:${HOST}}", "{file:h.test}"},
		{"{env:A-B}", "{env:A-B}"},
		{"$env:", "$env:"},
		{"${ ${HOST}", "${ h.test"},
		{"}{${HOST}}{", "}{h.test}{"},
		{"€${HOST}€", "€h.test€"},
	}
	for _, c := range cases {
		if got, err := expand(c.in, value); got != c.want || err != nil {
			t.Errorf("expand(%q) = %q, %v, want %q", c.in, got, err, c.want)
		}
	}
	for _, in := range []string{"${UNSET}", "$env:UNSET", "{env:UNSET}", "${UNSET:-${UNSET}}", "${input:other}", strings.Repeat("${U:-", 40) + strings.Repeat("}", 40)} {
		if got, err := expand(in, value); err == nil {
			t.Errorf("expand(%q) = %q, want an error", in, got)
		}
	}
}

func TestAPlaceholderWithoutAValueFailsThatServerAlone(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{".mcp.json": `{ "mcpServers": {
  "good": { "command": "x", "args": ["${SET}"] },
  "svc": {
    "command": "x",
    "env": {
      "OTHER": "${SET}",
      "TOKEN": "Bearer ${ACME_TOKEN}"
    }
  },
  "asks": { "command": "x", "env": { "KEY": "${input:acme-key}" } },
  "far": { "url": "https://${ACME_HOST}/", "headers": { "A": "${SET}" } },
  "list": { "command": ["x", "a",
    "${ACME_ARG}"] } } }`})
	tr.vars["SET"] = "hush"
	c := tr.load("")
	if err := c.Err(); err != nil {
		t.Fatal(err)
	}
	equal(t, "servers", tr.show(c), "asks: error\nfar: error\ngood: x hush\nlist: error\nsvc: error")
	for server, want := range map[string][3]string{
		"svc": {
			`/.mcp.json:7: server "svc": env.TOKEN: the variable ACME_TOKEN is not set`,
			"set it, or give it a default as in ${ACME_TOKEN:-default}", "ACME_TOKEN",
		},
		"far": {
			`/.mcp.json:11: server "far": url: the variable ACME_HOST is not set`,
			"set it, or give it a default as in ${ACME_HOST:-default}", "ACME_HOST",
		},
		"list": {
			`/.mcp.json:13: server "list": args[1]: the variable ACME_ARG is not set`,
			"set it, or give it a default as in ${ACME_ARG:-default}", "ACME_ARG",
		},
		"asks": {
			`/.mcp.json:10: server "asks": env.KEY: the input acme-key has no answer`,
			"give it once: mcpx servers input asks acme-key", "",
		},
	} {
		s, _ := c.Server(server)
		_, err := s.Resolve(tr.env())
		e := fault.From(err)
		if e.Kind != fault.Unavailable || tr.relative(e.Message) != want[0] || e.Hint != want[1] {
			t.Errorf("got  %s: %s\n%s\nwant unavailable: %s\n%s", e.Kind, tr.relative(e.Message), e.Hint, want[0], want[1])
		}
		if v, _ := e.Details["variable"].(string); v != want[2] {
			t.Errorf("%s: details %v", server, e.Details)
		}
		if strings.Contains(e.Message+e.Hint, "hush") {
			t.Errorf("%s: the error shows a value: %s", server, e.Message)
		}
	}
}

func TestAVerbatimServerHasNoPlaceholders(t *testing.T) {
	t.Parallel()
	s := &Server{Name: "demo", Transport: Stdio, Verbatim: true, Command: "/a$${HOME}/{env:X}", Args: []string{"${UNSET}"}}
	d, err := s.Resolve(Env{Dir: "/d"})
	if err != nil || d.Command != s.Command || d.Args[0] != "${UNSET}" || d.Dir != "/d" {
		t.Errorf("Resolve = %+v, %v", d, err)
	}
}

func FuzzExpand(f *testing.F) {
	for _, seed := range []string{"${A}", "$$${A:-${B}}", "{env:A}$env:A", "${${${", "}}${A}", "$${input:x}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := expand(s, func(reference) (string, bool, error) { return "$", true, nil })
		if err != nil {
			t.Fatalf("expand(%q): %v", s, err)
		}
		if !strings.Contains(s, "$") && !strings.Contains(s, "{env:") && got != s {
			t.Errorf("expand(%q) = %q", s, got)
		}
	})
}

// TestWhatIsWrittenWrongIsNotUnavailable tells an entry that no server can come of from one
// that lacks a value here and now: a file is to be mended, or a variable set.
func TestWhatIsWrittenWrongIsNotUnavailable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		entry string
		want  fault.Kind
	}{
		{`{"args": []}`, fault.Usage},
		{`{"url": "localhost:80"}`, fault.Usage},
		{`{"url": "${ADDRESS}"}`, fault.Unavailable},
		{`{"url": "${UNSET}"}`, fault.Unavailable},
		{`{"url": "http://h/", "headers": {"A": "x\n"}}`, fault.Usage},
		{`{"url": "http://h/", "headers": {"A": "${ADDRESS}\n"}}`, fault.Unavailable},
		{`{"command": "x", "args": ["\u0000"]}`, fault.Usage},
	} {
		s, env := one(t, `{"mcpServers": {"a": `+tt.entry+`}}`, "a", map[string]string{"ADDRESS": "localhost:80"})
		if _, err := s.Resolve(env); fault.KindOf(err) != tt.want {
			t.Errorf("%s: %v of kind %s, want %s", tt.entry, err, fault.KindOf(err), tt.want)
		}
	}
}
