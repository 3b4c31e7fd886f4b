package run

import (
	"fmt"
	"testing"

	"mcpx/internal/fault"
)

func TestTheFirstLineNamesAnInterpreter(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ line, want string }{
		{"", "none"},
		{"// #!/bin/sh", "none"},
		{"#!", "none"},
		{"#!/bin/sh", "/bin/sh []"},
		{"\uFEFF#!/bin/sh\r", "/bin/sh []"},
		{"#! /bin/sh -e -u", "/bin/sh [-e -u]"},
		{"#!/usr/bin/env python3", "python3 []"},
		{"#!/usr/bin/env node", "none"},
		{"#!/usr/bin/env -S deno run -A", "none"},
		{"#!/usr/local/bin/mcpx run", "none"},
		{"#!/usr/bin/env -S mcpx run --permissions none", "none"},
		{"#!/usr/bin/env -Spython3 -u 'a b' \"c\\\"d\" e\\ f", "python3 [-u a b c\"d e f]"},
		{"#!/usr/bin/env --split-string=A=1 B='2 3' python3", "python3 [] A=1 B=2 3"},
		{"#!/usr/bin/env -S -i -u X -uY --unset=Z -C /d --chdir=/e -- A= python3 -u", "python3 [-u] A= -X -Y -Z empty in /e"},
		{"#!/usr/bin/env -S - python3", "python3 [] empty"},
		{"#!/usr/bin/env", "error: env names no program"},
		{"#!/usr/bin/env -S", "error: env names no program"},
		{"#!/usr/bin/env -S A=1", "error: env names no program"},
		{"#!/usr/bin/env -S -u", "error: env -u needs a value"},
		{"#!/usr/bin/env -S -z x", "error: env has no option -z here"},
		{"#!/usr/bin/env -S 'x", "error: a quote is not closed"},
		{"#!/usr/bin/env -S x\\", "error: nothing follows a backslash"},
		{"#!/usr/bin/env python3 -u", "error: env takes one word, and several after -S"},
	} {
		in, err := interpreterOf("/x/script", test.line+"\nx")
		got := "none"
		switch {
		case err != nil && fault.KindOf(err) != fault.Usage:
			got = "an error of another kind"
		case err != nil:
			got = "error: " + err.Error()[len("the script's first line: "):]
		case in != nil:
			got = fmt.Sprint(in.file, " ", in.args)
			for _, name := range []string{"A", "B"} {
				if value, ok := in.set[name]; ok {
					got += " " + name + "=" + value
				}
			}
			for _, name := range in.unset {
				got += " -" + name
			}
			if in.empty {
				got += " empty"
			}
			if in.dir != "" {
				got += " in " + in.dir
			}
		}
		if in, err := interpreterOf("/x/script.ts", test.line+"\nx"); in != nil || err != nil {
			t.Errorf("in a file of TypeScript %q names %v, %v", test.line, in, err)
		}
		if got != test.want {
			t.Errorf("%q names %s, want %s", test.line, got, test.want)
		}
	}
}
