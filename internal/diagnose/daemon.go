package diagnose

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/daemon"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
)

// patience bounds what a daemon may take to tell of itself.
const patience = 30 * time.Second

// Look says where daemons are looked for.
type Look struct {
	State   string       // the state directory
	Here    daemon.Place // of the one that stands for the configuration
	Version string       // of this program
	Caller  api.Caller
	// Without says why the commands of this place do without a daemon; empty if they do not.
	Without string
}

// Daemons tells of the daemon of the configuration, of its servers, and of the others in
// the same state directory. None is started.
func Daemons(ctx context.Context, l Look) []api.Finding {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fault.Unavailablef("it did not answer within %s", settings.FormatDuration(patience)))
	defer cancel()
	places := []daemon.Place{l.Here}
	for _, p := range daemon.All(l.State) {
		if p.Name != l.Here.Name {
			places = append(places, p)
		}
	}
	found := make([][]api.Finding, len(places))
	var wg sync.WaitGroup
	for i, p := range places {
		wg.Go(func() {
			if i == 0 {
				found[i] = l.here(ctx)
			} else {
				found[i] = l.other(ctx, p)
			}
		})
	}
	wg.Wait()
	var out []api.Finding
	for _, f := range found {
		out = append(out, f...)
	}
	return out
}

// here tells of the daemon of the configuration.
func (l Look) here(ctx context.Context) []api.Finding {
	f := api.Finding{Subject: "daemon", State: api.Fine, Details: []api.Detail{{Name: "log", Value: l.Here.Log()}}}
	link, err := daemon.Find(ctx, l.Here)
	switch {
	case errors.Is(err, daemon.ErrNone) && l.Without != "":
		f.Message, f.Details = "none runs; commands do without one here: "+l.Without, nil
		return []api.Finding{f}
	case errors.Is(err, daemon.ErrNone):
		f.Message, f.Details = "none runs; the next command that needs one starts it", nil
		if r, err := l.Here.Read(); err == nil {
			f.Details = append(f.Details, api.Detail{Name: "left behind", Value: fmt.Sprintf("files of process %d, which the next one replaces", r.Pid)})
		}
		return []api.Finding{f}
	case err != nil:
		e := fault.From(err)
		f.State, f.Message, f.Hint = api.Failed, e.Message, e.Hint
		if f.Hint == "" {
			f.Hint = "run without it: MCPX_DAEMON_INLINE=always"
		}
		return []api.Finding{f}
	}
	defer link.Close()
	f.Message = fmt.Sprintf("process %d, mcpx %s, at %s", link.Pid, link.Version, link.Record.Endpoint)
	if l.Without != "" {
		f.Message += "; commands do without it here: " + l.Without
	}
	out := []api.Finding{f}
	if link.Version != l.Version {
		out = append(out, api.Finding{
			Subject: "daemon", State: api.Warning, Message: fmt.Sprintf("it is mcpx %s, and this is %s", link.Version, l.Version),
			Hint: "mcpx daemon restart",
		})
	}
	status, err := api.NewRemote(link.HTTP, daemon.BaseURL, l.Caller).Status(ctx, api.StatusInput{})
	if err != nil {
		e := fault.From(err)
		return append(out, api.Finding{
			Subject: "daemon", State: api.Failed, Message: "it does not tell of its servers: " + e.Message,
			Hint: fmt.Sprintf("mcpx daemon restart; if that does not help: kill -9 %d", link.Pid),
		})
	}
	out[0].Details = append(out[0].Details, api.Detail{Name: "running for", Value: age(status.Started)})
	if p := status.Problem; p != nil {
		hint := p.Hint
		if hint == "" {
			hint = "mend the file; it is read again by itself"
		}
		out = append(out, api.Finding{
			Subject: "daemon", State: api.Warning, Message: "the configuration as it is now is not in force: " + p.Message, Hint: hint,
		})
	}
	for _, i := range status.Instances {
		out = append(out, l.instance(i))
	}
	return out
}

// instance tells of a process of the daemon.
func (l Look) instance(i api.Instance) api.Finding {
	f := api.Finding{Subject: "daemon's " + i.Server, State: api.Fine, Message: fmt.Sprintf("%s for %s, %s", i.State, i.Key, times(i.Calls))}
	if i.InFlight > 0 {
		f.Message += fmt.Sprintf(", %d under way", i.InFlight)
	}
	if i.Pid > 0 {
		f.Details = append(f.Details, api.Detail{Name: "process", Value: fmt.Sprint(i.Pid)})
	}
	f.Details = append(f.Details,
		api.Detail{Name: "protocol", Value: i.Era},
		api.Detail{Name: "running for", Value: age(i.Started)},
		api.Detail{Name: "idle for", Value: settings.FormatDuration((time.Duration(i.IdleMillis) * time.Millisecond).Round(time.Second))},
	)
	if len(i.Holders) > 0 {
		f.Details = append(f.Details, api.Detail{Name: "held by", Value: strings.Join(i.Holders, ", ")})
	}
	if i.Noise > 0 {
		f.Details = append(f.Details, api.Detail{Name: "lines that were no messages", Value: fmt.Sprint(i.Noise)})
	}
	if i.Note != "" {
		f.State, f.Message = api.Warning, f.Message+"; "+i.Note
		f.Hint = "say in its mcpx block which scope is meant, or name a session: mcpx --session NAME"
	}
	return f
}

// other tells of a daemon that stands for other configuration files.
func (l Look) other(ctx context.Context, p daemon.Place) []api.Finding {
	link, err := daemon.Find(ctx, p)
	if err != nil {
		return nil // it has left, or is of no concern here
	}
	defer link.Close()
	f := api.Finding{
		Subject: "daemon", State: api.Fine, Message: fmt.Sprintf("process %d stands for other configuration files", link.Pid),
		Details: []api.Detail{{Name: "log", Value: p.Log()}},
	}
	status, err := api.NewRemote(link.HTTP, daemon.BaseURL, l.Caller).Status(ctx, api.StatusInput{})
	if err != nil {
		return []api.Finding{f} // it is no concern of this command what ails it
	}
	for _, file := range status.Files {
		if file.State == "read" {
			f.Details = append(f.Details, api.Detail{Name: "reads", Value: file.Path})
		}
	}
	return []api.Finding{f}
}

func age(since time.Time) string {
	return settings.FormatDuration(time.Since(since).Round(time.Second))
}

func times(calls int64) string {
	if calls == 1 {
		return "1 call"
	}
	return fmt.Sprintf("%d calls", calls)
}
