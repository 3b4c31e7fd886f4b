package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/daemon"
	"mcpx/internal/fault"
)

// service starts the daemon of a home, with a TCP port, and returns what it has written
// down.
func (h *home) service() daemon.Record {
	h.t.Helper()
	h.run("daemon", "start")
	places := daemon.All(h.state())
	if len(places) != 1 {
		h.t.Fatalf("%d daemons", len(places))
	}
	record, err := places[0].Read()
	if err != nil {
		h.t.Fatal(err)
	}
	return *record
}

// withPort is a home whose daemon listens over TCP, at a port that is free.
func withPort(t *testing.T) (*home, daemon.Record) {
	t.Helper()
	h := newHome(t)
	h.extra = append(h.extra, "MCPX_DAEMON_PORT="+freePort(t))
	return h, h.service()
}

// sendTo sends a run to the daemon over TCP.
func sendTo(t *testing.T, r daemon.Record, in map[string]any, accept string) (int, string) {
	t.Helper()
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	q, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.HTTP+"/v1/exec", bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+r.Token)
	if accept != "" {
		q.Header.Set("Accept", accept)
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// Whoever asks over TCP gets one document, or frames in their order; arguments are in none.
func TestScriptsAsAService(t *testing.T) {
	t.Parallel()
	_, r := withPort(t)
	code, body := sendTo(t, r, map[string]any{
		"code": `console.log("out"); emit({ a: 1 }); log.warn("careful"); const r = await tools.one.echo({ message: "secret words" }); return { said: r, args: process.argv.slice(2), in: await input(), tz: process.env.NO_SUCH }`,
		"args": []string{"x"}, "stdin": "given", "limits": map[string]string{"toolCalls": "5"}, "timeout": "1m",
	}, "")
	var out api.ExecOutput
	if err := json.Unmarshal([]byte(body), &out); err != nil || code != http.StatusOK {
		t.Fatalf("%d %s: %v", code, body, err)
	}
	if string(out.Value) != `{"said":"secret words","args":["x"],"in":"given"}` || out.Stdout != "out\n" || len(out.Emits) != 1 || string(out.Emits[0]) != `{"a":1}` ||
		!slices.Equal(out.Logs, []api.Log{{Level: "warn", Text: "careful"}}) || out.ExitCode != 0 || out.RunID == "" {
		t.Errorf("document: %s", body)
	}
	if len(out.Calls) != 1 || out.Calls[0].Server != "one" || out.Calls[0].Tool != "echo" || !out.Calls[0].OK || len(out.Calls[0].ArgsHash) != 64 {
		t.Errorf("calls: %+v", out.Calls)
	}
	if out.Limits["toolCalls"] != "5" || out.Limits["time"] != "1m" {
		t.Errorf("limits: %v", out.Limits)
	}

	code, body = sendTo(t, r, map[string]any{
		"code":   `console.log("out"); emit(1); await tools.one.echo({ message: "secret words" }); await artifact("a.txt", "kept"); return 2`,
		"phases": map[string]any{"before": []string{"1"}, "onSuccess": []string{"return hook.value + 1"}, "suffix": []string{"2"}},
	}, "application/x-ndjson")
	if code != http.StatusOK || strings.Contains(body, "secret words") {
		t.Fatalf("%d %s", code, body)
	}
	var kinds []string
	for line := range strings.Lines(body) {
		var f api.Frame
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		kind := f.Type
		if f.Phase != "" {
			kind += ":" + f.Phase
		}
		kinds = append(kinds, kind)
	}
	if got := strings.Join(kinds, " "); got != "start hook:before stdout emit call artifact hook:onSuccess result hook:suffix end" {
		t.Errorf("frames: %s\n%s", got, body)
	}

	code, body = sendTo(t, r, map[string]any{"code": `console.log(JSON.stringify({ printed: [1] }))`}, "")
	if out = (api.ExecOutput{}); json.Unmarshal([]byte(body), &out) != nil || string(out.Value) != `{"printed":[1]}` {
		t.Errorf("%d: what is one JSON text is the value: %s", code, body)
	}
	code, body = sendTo(t, r, map[string]any{"code": `throw new TypeError("boom")`}, "")
	if out = (api.ExecOutput{}); json.Unmarshal([]byte(body), &out) != nil || out.ExitCode != 1 || out.Error == nil || out.Error.Name != "TypeError" || out.Error.At == nil || out.Error.At.Line != 1 {
		t.Errorf("%d: %s", code, body)
	}
	if code, body = sendTo(t, r, map[string]any{"code": `process.exit(7)`}, ""); !strings.Contains(body, `"exitCode":7`) {
		t.Errorf("%d: %s", code, body)
	}
}

// A caller over TCP can only have less than a run that asks for nothing.
func TestScriptsFromElsewhereOnlyTighten(t *testing.T) {
	t.Parallel()
	h, r := withPort(t)
	secret := filepath.Join(h.dir, "secret.txt")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	reads := fmt.Sprintf(`import { readFileSync } from "node:fs"; return readFileSync(%q, "utf8")`, secret)
	starts := `import { execFileSync } from "node:child_process"; return execFileSync("/bin/sh", ["-c", "echo started"]).toString()`
	everything := []string{}
	tests := []struct {
		name string
		in   map[string]any
		want string // in the answer
		code int
	}{
		{"every permission", map[string]any{"code": reads, "permissions": "all"}, `"kind":"denied"`, 200},
		{"a permission to read", map[string]any{"code": reads, "allow": map[string]any{"read": everything}}, `"kind":"denied"`, 200},
		{"a permission to start programs", map[string]any{"code": starts, "allow": map[string]any{"run": everything}}, `"kind":"denied"`, 200},
		{"a folder of this machine", map[string]any{"code": "1", "cwd": "/"}, "cwd cannot be given", 403},
		{"a file of this machine", map[string]any{"code": `import "./secret.txt"`, "file": filepath.Join(h.dir, "a.ts")}, "file cannot be given", 403},
		{"a check, which reads", map[string]any{"code": "1", "typecheck": "on"}, "typecheck cannot be asked for", 403},
		{"more calls", map[string]any{"code": "1", "limits": map[string]string{"toolCalls": "1000000"}}, `"toolCalls":"500"`, 200},
		{"fewer calls", map[string]any{"code": "1", "limits": map[string]string{"toolCalls": "3"}}, `"toolCalls":"3"`, 200},
		{"more time", map[string]any{"code": "1", "timeout": "100h"}, `"time":"2m"`, 200},
		{"a limit that is none", map[string]any{"code": "1", "limits": map[string]string{"toolCalls": "many"}}, "many", 400},
		{"less", map[string]any{"code": "await tools.one.echo({message: 'x'})", "permissions": "none"}, `"kind":"denied"`, 200},
		{"variables of its own, of which none is granted", map[string]any{"code": "return process.env.MINE ?? 'unset'", "env": map[string]string{"MINE": "x"}}, `"unset"`, 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			code, body := sendTo(t, r, tt.in, "")
			if code != tt.code || !strings.Contains(body, tt.want) || strings.Contains(body, `"value":"secret"`) || strings.Contains(body, "started\\n") {
				t.Errorf("%d %s, want %d with %s", code, body, tt.code, tt.want)
			}
		})
	}
	r.Token = "another"
	if code, _ := sendTo(t, r, map[string]any{"code": "1"}, ""); code != http.StatusUnauthorized {
		t.Errorf("with another token: %d", code)
	}
}

// What a command prints, and how it ends, is the same wherever its script runs.
func TestAScriptRunsHereAndThere(t *testing.T) {
	t.Parallel()
	h, r := withPort(t)
	for name, text := range map[string]string{
		"token": r.Token + "\n", "lib.ts": "export const n: number = 41;\nexport function fails() {\n  throw new Error('in lib')\n}\n",
		"main.ts": "import { n } from './lib'\nconsole.log('main', process.argv.slice(2).join())\nexport function twice() { return 2 * n }\nexport default n + 1\n",
		"bad.ts":  "import { fails } from './lib'\nfails()\n", "hook.ts": "console.log('hook', hook.phase, hook.value, hook.error?.message)\n", "set.ts": "globalThis.set = 'by prefix'\n",
		"rescue.ts": "return 'rescued'\n", "all.ts": "import { readFileSync } from 'node:fs'\nexport const all = (): string => readFileSync(0, 'utf8')\n",
		"holes.ts":  "import { n } from './lib'\nconst s: string = 'no @word'\nconsole.log(s, n + @plus, @word)\n",
		"broken.ts": "import { n } from './lib'\nconsole.log(n)\n\nthrow new Error(@word + n)\n",
		"wrong.ts":  "import { n } from './lib'\nconst a = @word +\n",
		"reads.ts":  "import { all } from './all'\nconsole.log(all())\n",
	} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"elsewhere", "near"} {
		if err := os.Mkdir(filepath.Join(h.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"elsewhere/far.ts": "export const far = 'far'\n", "near/far.ts": "import { far } from '../elsewhere/far'\nconsole.log(far)\n"} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.run("exec", "--record", "calls.jsonl", "await tools.one.echo({ message: 'hi' })")
	ways := map[string][]string{
		"the daemon of this machine": {"MCPX_EXEC_WHERE=remote"},
		"a socket":                   {"MCPX_EXEC_WHERE=remote", "MCPX_DAEMON_ENDPOINT=" + r.Endpoint},
		"http":                       {"MCPX_DAEMON_ENDPOINT=" + r.HTTP, "MCPX_DAEMON_TOKEN_FILE=" + filepath.Join(h.dir, "token")},
	}
	tests := []struct {
		args  []string
		stdin string
		user  bool // over TCP it may not
	}{
		{args: []string{"exec", "return 1"}},
		{args: []string{"exec", "1 + 1"}},
		{args: []string{"exec", "console.log('a'); 1 + 1"}},
		{args: []string{"exec", "process.argv.slice(2)", "--", "a", "--flag"}},
		{args: []string{"exec", "return await tools.one.echo({ message: 'hi' })"}},
		{args: []string{"exec", "console.log('é'.repeat(40000)); log.warn('w'); console.error('e'); emit({ a: 1 }); return 'x'"}},
		{args: []string{"exec", "throw new RangeError('boom')"}},
		{args: []string{"exec", "console.log('before'); process.exit(3)"}},
		{args: []string{"exec", "let x: = 1"}},
		{args: []string{"exec", "return await input()"}, stdin: "given"},
		{args: []string{"exec", "import { readFileSync } from 'node:fs'; return readFileSync( 0, 'utf8')"}, stdin: "given"},
		{args: []string{"run", "reads.ts"}, stdin: "given"},
		{args: []string{"exec", "--timeout", "1s", "for (;;) ;"}},
		{args: []string{"exec", "--limits-tool-calls", "1", "await tools.one.echo({message: 'a'}); await tools.one.echo({message: 'b'})"}},
		{args: []string{"exec", "--permissions", "none", "await tools.one.echo({message: 'a'})"}},
		{args: []string{"exec", "--deny-tools=one", "await tools.one.echo({message: 'a'})"}},
		{args: []string{"exec", "-A", "import { existsSync } from 'node:fs'; return existsSync('/')"}, user: true},
		{args: []string{"exec", "--allow-read=.", "import { readdirSync } from 'node:fs'; return readdirSync('.').includes('main.ts')"}, user: true},
		{args: []string{"exec", "--allow-env=HOME", "return process.env.HOME"}, user: true},
		{args: []string{"exec", "--ns", "one", "return Object.keys(tools)"}},
		{args: []string{"exec", "--ns", "two", "1"}},
		{args: []string{"exec", "--placeholder", "n:=4", "return @n + 1"}},
		{args: []string{"run", "--placeholder", "plus:=4", "--placeholder", "word=w", "holes.ts"}},
		{args: []string{"run", "--placeholder", "word=w", "broken.ts"}},
		{args: []string{"run", "--placeholder", "word=w", "wrong.ts"}},
		{args: []string{"run", "--placeholder", "none=w", "holes.ts"}},
		{args: []string{"run", "holes.ts"}},
		{args: []string{"exec", "--before", "hook.ts", "--suffix", "hook.ts", "return 5"}},
		{args: []string{"exec", "--prefix", "set.ts", "return globalThis.set"}},
		{args: []string{"exec", "--on-success", "hook.ts", "return 5"}},
		{args: []string{"exec", "--on-error", "rescue.ts", "throw new Error('x')"}},
		{args: []string{"exec", "--capture-console", "console.log('a'); return 1"}},
		{args: []string{"run", "main.ts", "a", "b"}},
		{args: []string{"run", "--export", "twice", "main.ts"}},
		{args: []string{"run", "--export", "thrice", "main.ts"}},
		{args: []string{"run", "bad.ts"}},
		{args: []string{"exec", "--typecheck", "on", "const n: number = 1; return n"}},
		{args: []string{"exec", "--artifacts", "out", "return (await artifact('a.txt', 'kept')).size"}},
		{args: []string{"exec", "--record", "out/calls.jsonl", "return await tools.one.echo({ message: 'hi' })"}},
		{args: []string{"exec", "--replay", "calls.jsonl", "return await tools.one.echo({ message: 'hi' })"}},
		{args: []string{"exec", "--replay", "calls.jsonl", "return await tools.one.echo({ message: 'ho' })"}},
		{args: []string{"exec", "--runtime", "node", "-A", "return await tools.one.echo({ message: 'hi' })"}, user: true},
		{args: []string{"exec", "--runtime", "bun", "--allow-read=.", "return 1"}, user: true},
		{args: []string{"exec", "--allow-tools=two", "await tools.one.echo({message: 'a'})"}},
		{args: []string{"exec", "--allow-write=out", "import { writeFileSync } from 'node:fs'; writeFileSync('out/a', 'x'); return 1"}, user: true},
		{args: []string{"exec", "--allow-net=127.0.0.1:1", "return (await fetch('http://127.0.0.1:1/').catch((e) => e)).name"}, user: true},
		{args: []string{"exec", "--allow-run=/bin/echo", "import { execFileSync } from 'node:child_process'; return execFileSync('/bin/echo', ['ran']).toString()"}, user: true},
		{args: []string{"run", "--allow-imports=elsewhere", "near/far.ts"}},
		{args: []string{"run", "near/far.ts"}},
		{args: []string{"--json", "exec", "emit(1); console.log('a'); return 2"}},
		{args: []string{"exec", "--stream", "emit(1); console.log('a'); log('b'); return 2"}},
	}
	// The daemon has limits of its own.
	changing := regexp.MustCompile(`"(runId|durationMs|sandbox|limits)":\s*("[^"]*"|\d+|\{[^}]*\})`)
	outcome := func(extra []string, args []string, stdin string) string {
		// Each finds the same files.
		out := filepath.Join(h.dir, "out")
		if err := errors.Join(os.RemoveAll(out), os.Mkdir(out, 0o700)); err != nil {
			t.Fatal(err)
		}
		c := h.command(args...)
		c.Env = append(c.Env, extra...)
		c.Stdin = strings.NewReader(stdin)
		var stdout, stderr bytes.Buffer
		c.Stdout, c.Stderr = &stdout, &stderr
		_ = c.Run() // how it ended is compared
		return changing.ReplaceAllString(fmt.Sprintf("exit code %d\n%s\nstandard error:\n%s", c.ProcessState.ExitCode(), stdout.String(), stderr.String()), `"$1":0`)
	}
	for _, tt := range tests {
		here := outcome([]string{"MCPX_EXEC_WHERE=local"}, tt.args, tt.stdin)
		for way, extra := range ways {
			if tt.user && way == "http" {
				continue
			}
			if there := outcome(extra, tt.args, tt.stdin); there != here {
				t.Errorf("%s: %q\n%s\nand here:\n%s", way, tt.args, there, here)
			}
		}
	}
	// No flag is left out, but those that say where it runs. A task is never here.
	_, flags, _ := strings.Cut(h.run("help", "exec"), "\nFlags:\n")
	flags, _, _ = strings.Cut(flags, "\nExamples:\n")
	for _, line := range regexp.MustCompile(`(?m)^  --.*?(  |$)`).FindAllString(flags, -1) {
		names := regexp.MustCompile(`--?[A-Za-z][a-z-]*`).FindAllString(line, -1)
		if slices.Contains([]string{"--local", "--remote", "--task", "--task-ttl"}, names[0]) {
			continue
		}
		used := false
		for _, tt := range tests {
			used = used || slices.ContainsFunc(tt.args, func(arg string) bool {
				return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(arg, name) })
			})
		}
		if !used {
			t.Errorf("no row has %s", line)
		}
	}
	// A daemon on another machine cannot be asked by a script that runs here.
	got := outcome(append(ways["http"], "MCPX_EXEC_WHERE=local"), []string{"exec", "1"}, "")
	if !strings.Contains(got, "exit code 2") || !strings.Contains(got, "cannot run here") {
		t.Errorf("--local with an address: %s", got)
	}
	got = outcome([]string{"MCPX_EXEC_WHERE=remote", "MCPX_DAEMON_INLINE=always"}, []string{"exec", "1"}, "")
	if !strings.Contains(got, fmt.Sprintf("exit code %d", fault.Unavailable.ExitCode())) || !strings.Contains(got, "daemon.inline is always") {
		t.Errorf("--remote without a daemon: %s", got)
	}
	// Other commands ask that daemon, too.
	if got := outcome(ways["http"], []string{"call", "one.echo", "message=far"}, ""); !strings.HasPrefix(got, "exit code 0\nfar\n") {
		t.Errorf("call: %s", got)
	}
}

// More scripts than run at a time wait for their turn, and none is lost.
func TestManyScriptsAtOnce(t *testing.T) {
	t.Parallel()
	many := 60
	if testing.Short() {
		many = 10
	}
	if text := os.Getenv("MCPX_TEST_RUNS"); text != "" {
		if _, err := fmt.Sscan(text, &many); err != nil {
			t.Fatal(err)
		}
	}
	_, r := withPort(t)
	var sending sync.WaitGroup
	places := make(chan struct{}, 200) // connections
	got := make([]string, many)
	for i := range many {
		sending.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			code, body := sendTo(t, r, map[string]any{"code": fmt.Sprintf(`return await tools.one.echo({ message: "n%d" })`, i)}, "")
			var out api.ExecOutput
			if err := json.Unmarshal([]byte(body), &out); err != nil || code != http.StatusOK {
				got[i] = fmt.Sprint(code, body)
				return
			}
			got[i] = string(out.Value)
		})
	}
	sending.Wait()
	for i, value := range got {
		if value != fmt.Sprintf(`"n%d"`, i) {
			t.Errorf("run %d: %s", i, value)
		}
	}
}

// What leads to a daemon over the standard streams of another program, as ssh does.
func TestADaemonBehindAProgram(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	// An ssh that runs the command on this machine, and writes down how it was called.
	script := "#!/bin/sh\necho \"$@\" >> " + filepath.Join(h.dir, "calls") + "\nwhile [ \"$1\" != -- ]; do shift; done\nshift 2\nexec \"$@\"\n"
	if err := installProgram(filepath.Join(h.dir, "bin", "ssh"), []byte(script)); err != nil {
		t.Fatal(err)
	}
	h.extra = append(h.extra, "MCPX_DAEMON_ENDPOINT=ssh://me@host.example:2222", "PATH="+filepath.Join(h.dir, "bin")+":/usr/bin:/bin")
	if got := h.run("exec", "return await tools.one.echo({ message: 'over there' })"); got != "over there\n" {
		t.Errorf("exec printed %q", got)
	}
	if got := h.run("call", "one.echo", "message=x"); got != "x\n" {
		t.Errorf("call printed %q", got)
	}
	calls, err := os.ReadFile(filepath.Join(h.dir, "calls"))
	if err != nil || !strings.HasPrefix(string(calls), "-T -o BatchMode=yes -p 2222 -- me@host.example mcpx daemon connect\n") {
		t.Errorf("ssh was called with %q, %v", calls, err)
	}
}

func TestEndpointsThatAreNone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"unix:":                  "names no socket",
		"ftp://x":                "none of those",
		"ssh://-oProxyCommand=x": "what a name of a host",
		"ssh://-l@host":          "what a name of a host",
		"ssh://me:secret@host":   "a password",
		"ssh://host/path":        "more than a host",
		"http://me@host:1":       "holds a user",
		"http://host:1/?x":       "more than a host",
		"https://":               "names no host",
		"http://\x7f":            "is no address",
		"127.0.0.1:80":           "is no address",
	} {
		if _, err := daemon.ParseEndpoint(text); fault.KindOf(err) != fault.Usage || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseEndpoint(%q) = %v, want %s", text, err, want)
		}
	}
	e, err := daemon.ParseEndpoint("http://192.0.2.1:80")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Reach(context.Background(), daemon.Reach{Token: "secret"}); fault.KindOf(err) != fault.Denied {
		t.Errorf("a token in the clear: %v", err)
	}
	if _, _, err := e.Reach(context.Background(), daemon.Reach{}); fault.KindOf(err) != fault.Usage {
		t.Errorf("no token: %v", err)
	}
}
