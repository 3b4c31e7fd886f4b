package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"mcpx/internal/api"
	"mcpx/internal/cli"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
	"mcpx/internal/store"
)

// needy makes calls of a server whose entry refers to an input.
type needy struct {
	c *command

	mu    sync.Mutex
	calls int
}

func (n *needy) Call(context.Context, api.CallInput) (*api.CallOutput, error) {
	n.mu.Lock()
	n.calls++
	n.mu.Unlock()
	s, err := n.c.server("needs")
	if err != nil {
		return nil, err
	}
	d, err := s.Resolve(n.c.env)
	if err != nil {
		return nil, err
	}
	return &api.CallOutput{Text: d.Env["KEY"], IsText: true}, nil
}

// deskWithInputs is a command in an empty home with one entry that refers to inputs.
func deskWithInputs(t *testing.T) (*command, *needy) {
	t.Helper()
	home := t.TempDir()
	text := `{
		"inputs": [{"id": "region", "type": "pickString", "options": ["eu", "us"]}],
		"mcpServers": {"needs": {"command": "x", "args": ["${input:region}"], "env": {"KEY": "${input:key}"}}}
	}`
	if err := os.WriteFile(filepath.Join(home, ".mcpx.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := &command{
		OpenOptions: cli.OpenOptions{Settings: &settings.Set{}},
		env:         config.Env{Lookup: func(string) (string, bool) { return "", false }, Home: home, Dir: home},
		state:       filepath.Join(home, "state"),
	}
	if err := c.Settings.ApplyFlag("auth-store", "file"); err != nil {
		t.Fatal(err)
	}
	c.trust, c.env.Input = store.OpenTrust(c.state), answers(c.state)
	return c, &needy{c: c}
}

func TestWhatAServerNeedsIsAskedForOnce(t *testing.T) {
	t.Parallel()
	c, to := deskWithInputs(t)
	var mu sync.Mutex
	asked := map[string]int{}
	c.AskInput = func(_ context.Context, server string, in api.ServerInput) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[server+" "+in.ID]++
		if in.ID == "region" {
			return in.Options[0], nil
		}
		return "opensesame", nil
	}
	var calls sync.WaitGroup
	for range 8 { // the calls of a script
		calls.Go(func() {
			out, err := asker{c, to}.Call(t.Context(), api.CallInput{})
			if err != nil || out.Text != "opensesame" {
				t.Errorf("Call = %+v, %v", out, err)
			}
		})
	}
	calls.Wait()
	if asked["needs region"] != 1 || asked["needs key"] != 1 || len(asked) != 2 {
		t.Errorf("asked %v", asked)
	}
	files, err := filepath.Glob(filepath.Join(c.state, "inputs", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("kept in %q, %v", files, err)
	}
	for _, f := range files {
		if info, err := os.Stat(f); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s: %v, %v", f, info.Mode(), err)
		}
	}
	c.AskInput = nil // another process finds the answers
	c.env.Input = answers(c.state)
	if out, err := c.asking(t.Context(), to, api.CallInput{}); err != nil || out.Text != "opensesame" {
		t.Errorf("Call = %+v, %v", out, err)
	}
}

func TestWithoutAnAnswerTheCallFails(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(context.Context, string, api.ServerInput) (string, error){
		"nobody":            nil,
		"nothing is typed":  func(context.Context, string, api.ServerInput) (string, error) { return "", nil },
		"none of the words": func(context.Context, string, api.ServerInput) (string, error) { return "asia", nil },
		"asking fails":      func(context.Context, string, api.ServerInput) (string, error) { return "x", context.Canceled },
	} {
		c, to := deskWithInputs(t)
		c.AskInput = ask
		_, err := c.asking(t.Context(), to, api.CallInput{})
		if e := fault.From(err); err == nil || e.Kind != fault.Unavailable || e.Details["input"] != "region" || to.calls != 1 {
			t.Errorf("%s: %v after %d calls", name, err, to.calls)
		}
	}
}

func TestAnAnswerIsForgotten(t *testing.T) {
	t.Parallel()
	c, to := deskWithInputs(t)
	for _, give := range []api.GiveInput{{Server: "needs", ID: "region", Value: "us"}, {Server: "needs", ID: "key", Value: "opensesame"}} {
		if out, err := c.give(give); err != nil || out.Store != "file" {
			t.Fatalf("give = %+v, %v", out, err)
		}
	}
	if out, err := to.Call(t.Context(), api.CallInput{}); err != nil || out.Text != "opensesame" {
		t.Fatalf("Call = %+v, %v", out, err)
	}
	if _, err := c.give(api.GiveInput{Server: "needs", ID: "key", Forget: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := to.Call(t.Context(), api.CallInput{}); err == nil {
		t.Error("it is known still")
	}
	for _, bad := range []api.GiveInput{
		{Server: "needs", ID: "region", Value: "asia"},
		{Server: "needs", ID: "key"},
		{Server: "needs", ID: "nope", Value: "x"},
		{Server: "nobody", ID: "key", Value: "x"},
		{Server: "needs", ID: "key", Value: "a\x00b"},
	} {
		if out, err := c.give(bad); err == nil {
			t.Errorf("give(%+v) = %+v", bad, out)
		}
	}
}
