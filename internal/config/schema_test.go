package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"mcpx/internal/schema"
	"mcpx/internal/settings"
)

func TestTheSchemaCompiles(t *testing.T) {
	t.Parallel()
	text := Schema()
	if _, err := schema.CompileRule(text); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Properties map[string]struct {
			Properties map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for _, i := range settings.All() {
		group, key, _ := strings.Cut(i.Path, ".")
		of := doc.Properties[group].Properties
		for inner, rest, ok := strings.Cut(key, "."); ok; inner, rest, ok = strings.Cut(key, ".") {
			var next struct{ Properties map[string]json.RawMessage }
			if err := json.Unmarshal(of[inner], &next); err != nil {
				t.Errorf("%s: %v", i.Path, err)
			}
			of, key = next.Properties, rest
		}
		if of[key] == nil {
			t.Errorf("%s is not in it", i.Path)
		}
	}
}

// Whatever is written with defaults is valid, in each form that a file takes.
func TestTheSchemaTakesWhatIsRead(t *testing.T) {
	t.Parallel()
	for _, i := range settings.All() {
		if i.Path == "paths.config" {
			continue // a list in a file
		}
		for _, raw := range []string{quoted(i.Default), i.Default} {
			text := "{" + nested(i.Path, raw) + "}"
			if !json.Valid([]byte(text)) || i.Default == "" {
				continue
			}
			set := &settings.Set{}
			err := set.ApplyFile(settings.File{Entries: []settings.Entry{{Path: i.Path, Value: json.RawMessage(raw)}}})
			if refused := schema.Validate(Schema(), json.RawMessage(text)); (err == nil) != (refused == nil) {
				t.Errorf("%s: the reader says %v, the schema %v", text, err, refused)
			}
		}
	}
}

// TestTheSchemaAndTheReaderAgree holds both against files.
func TestTheSchemaAndTheReaderAgree(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		good       bool
	}{
		{"nothing", `{}`, true},
		{"a server and settings", `{"mcpServers": {"a": {"command": "x", "args": ["y", 1], "mcpx": {"scope": "repo", "max": 2, "excludeTools": ["e*"]}}}, "exec": {"timeout": "60s"}}`, true},
		{"other hosts' keys", `{"theme": "dark", "mcpServers": {"a": {"command": "x", "alwaysAllow": ["y"], "timeout": 5}}}`, true},
		{"a removed server", `{"mcpServers": {"a": null}}`, true},
		{"rules for all servers", `{"pool": {"tools": ["a"], "argumentRules": {"x": {"required": ["y"]}}}}`, true},
		{"a profile", `{"script": {"profiles": {"x": {"extends": "tools", "read": true, "write": ["./out"], "deny": {"read": [".env"]}, "stdin": true}}}}`, true},
		{"a number as text", `{"pool": {"max": "3"}, "limits": {"memory": 1048576, "source": "4 MiB"}}`, true},
		{"a group in a group", `{"daemon": {"limits": {"cpu": "1s", "toolCalls": 3}}}`, true},
		{"an unknown setting of a group in a group", `{"daemon": {"limits": {"cpus": "1s"}}}`, false},
		{"a setting by the path in its group", `{"daemon": {"limits.cpu": "1s"}}`, false},
		{"an unknown setting", `{"pool": {"maxx": 3}}`, false},
		{"a duration without a unit", `{"exec": {"timeout": 60}}`, false},
		{"an unknown word", `{"policy": {"write": "perhaps"}}`, false},
		{"an unknown key of the mcpx block", `{"mcpServers": {"a": {"command": "x", "mcpx": {"scoop": "repo"}}}}`, false},
		{"an unknown scope", `{"mcpServers": {"a": {"command": "x", "mcpx": {"scope": "world"}}}}`, false},
		{"a scope on the entry", `{"mcpServers": {"a": {"command": "x", "scope": "repo", "writePolicy": "ask"}}}`, true},
		{"an unknown scope there", `{"mcpServers": {"a": {"command": "x", "scope": "world"}}}`, false},
		{"max as text", `{"mcpServers": {"a": {"command": "x", "mcpx": {"max": "2"}}}}`, false},
		{"an unknown key of a profile", `{"script": {"profiles": {"x": {"reed": true}}}}`, false},
		{"a group that is none", `{"exec": 5}`, false},
		{"servers that are no object", `{"mcpServers": []}`, false},
		{"rules that are no list", `{"pool": {"tools": "a"}}`, false},
	} {
		if err := schema.Validate(Schema(), json.RawMessage(tt.text)); (err == nil) != tt.good {
			t.Errorf("%s: the schema says %v", tt.name, err)
		}
		file := filepath.Join(t.TempDir(), ".mcpx.json")
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := Load(Options{File: file, Env: Env{Dir: t.TempDir()}})
		if err != nil {
			t.Fatal(err)
		}
		wrong := cfg.Err()
		for _, f := range cfg.Settings {
			if err := (&settings.Set{}).ApplyFile(f); err != nil {
				wrong = err
			}
		}
		for _, s := range cfg.Servers {
			if s.Problem != nil {
				wrong = s.Problem
			}
		}
		if len(cfg.Faults) > 0 {
			wrong = cfg.Faults[0]
		}
		if cfg.about.broken != nil {
			wrong = cfg.about.broken
		}
		if (wrong == nil) != tt.good {
			t.Errorf("%s: the reader says %v", tt.name, wrong)
		}
	}
}

// TestExamplesAreValid takes the files that README and guides show, as JSON with comments.
func TestExamplesAreValid(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?ms)^```jsonc\n(.*?)^```")
	n := 0
	for _, page := range append(pages, filepath.Join("..", "..", "README.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range block.FindAllStringSubmatch(string(text), -1) {
			example := found[1]
			plain, err := hujson.Standardize([]byte(example))
			if err != nil {
				// Members of the object that the page has named.
				if plain, err = hujson.Standardize([]byte(`{"mcpServers": {` + example + `}}`)); err != nil {
					t.Errorf("%s: %v:\n%s", page, err, example)
					continue
				}
			}
			n++
			if err := schema.Validate(Schema(), plain); err != nil {
				t.Errorf("%s: %v:\n%s", page, err, example)
			}
		}
	}
	if n < 5 {
		t.Errorf("%d examples: nothing is guarded", n)
	}
}
