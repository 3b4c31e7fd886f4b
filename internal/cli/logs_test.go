package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestDaemonLogs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "d.log")
	if err := os.WriteFile(file, []byte("{\"n\":1}\n{\"n\":2}\n{\"n\":\"\x1b[2J\"}\nhal"), 0o600); err != nil {
		t.Fatal(err)
	}
	logs := func(path string, args ...string) *session {
		p := Program{Dir: dir, LogFile: func(OpenOptions) (string, error) { return path, nil }}
		return driveIn(t, &desk{}, p, append([]string{"daemon", "logs"}, args...)...)
	}
	logs(file).want(t, 0, "{\"n\":1}\n{\"n\":2}\n{\"n\":\"\ufffd[2J\"}\n", "")
	logs(file, "-n", "2").want(t, 0, "{\"n\":2}\n{\"n\":\"\ufffd[2J\"}\n", "")
	logs(file, "--lines=0").want(t, 0, "", "")
	name, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	logs(file, "--json", "-n", "1").want(t, 0, `{"file":`+string(name)+`,"lines":["{\"n\":\"\u001b[2J\"}"]}`+"\n", "")
	for args, want := range map[string]string{"-n x": "no number of lines", "-f --json": "one document", "x": "unexpected argument"} {
		if s := logs(file, strings.Fields(args)...); s.code != 2 || !strings.Contains(s.stderr.String(), want) {
			t.Errorf("%s: exit %d, %s, want %q", args, s.code, s.stderr.String(), want)
		}
	}
	logs(filepath.Join(dir, "none")).want(t, 2, "", "mcpx: no daemon of these configuration files has written a log\n  it would be "+
		filepath.Join(dir, "none")+"; \"mcpx daemon start\" starts one\n")
}

func TestDaemonLogsFollowsTheLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "d.log")
		write := func(text string) {
			t.Helper()
			f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString(text); err != nil {
				t.Fatal(err)
			}
		}
		write("one\ntw")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var stdout, stderr strings.Builder
		p := Program{
			Args: []string{"daemon", "logs", "-f"}, Stdout: &stdout, Stderr: &stderr,
			LogFile: func(OpenOptions) (string, error) { return file, nil },
		}
		code := make(chan int)
		go func() { code <- p.Run(ctx) }()
		said := func(want string) {
			t.Helper()
			time.Sleep(2 * lookAgain)
			synctest.Wait()
			if got := stdout.String(); got != want {
				t.Errorf("printed %q, want %q", got, want)
			}
		}
		said("one\n")
		write("o\nthree\n")
		said("one\ntwo\nthree\n")
		if err := os.Truncate(file, 0); err != nil { // it is put aside
			t.Fatal(err)
		}
		write("four\n")
		said("one\ntwo\nthree\nfour\n")
		if err := os.WriteFile(file, []byte("five\n"), 0o600); err != nil { // another daemon begins it anew, and is as far
			t.Fatal(err)
		}
		said("one\ntwo\nthree\nfour\nfive\n")
		cancel()
		if got := <-code; got != exitInterrupted {
			t.Errorf("exit code %d, want %d", got, exitInterrupted)
		}
	})
}
