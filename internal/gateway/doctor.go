package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"mcpx/internal/api"
	"mcpx/internal/catalog"
	"mcpx/internal/config"
	"mcpx/internal/fault"
	"mcpx/internal/settings"
	"mcpx/mcp"
	"mcpx/pool"
)

// Doctor reads every file, starts every server and lists its tools. Servers are looked at
// beside each other, and each for twice as long as it may take to start at most.
func (g *Gateway) Doctor(ctx context.Context, _ api.DoctorInput) (*api.DoctorOutput, error) {
	out := &api.DoctorOutput{Healthy: true}
	add := func(all ...api.Finding) {
		for _, f := range all {
			out.Findings = append(out.Findings, f)
			out.Healthy = out.Healthy && f.State != api.Failed
		}
	}
	var notes []api.Finding
	var wg sync.WaitGroup
	if g.o.Notes != nil {
		wg.Go(func() { notes = g.o.Notes(ctx) })
	}
	findings := make([][]api.Finding, len(g.servers))
	g.each(func(i int, s *server) { findings[i] = s.examine(ctx) })
	wg.Wait()
	add(notes...)
	for _, f := range g.o.Config.Files {
		add(examineFile(f)...)
	}
	if g.o.Demo {
		add(api.Finding{
			Subject: "config", State: api.Fine, Message: "no server is configured, so the built-in demo server stands in",
			Hint: "add one: mcpx servers add NAME -- COMMAND ARGS…",
		})
	}
	said := map[string]bool{} // warnings
	warn := func(f api.Finding) {
		if !said[f.Message] {
			said[f.Message] = true
			add(f)
		}
	}
	for _, w := range g.o.Config.Warnings {
		warn(api.Finding{Subject: "config", State: api.Warning, Message: w, Hint: whereToEdit(w)})
	}
	for _, f := range slices.Concat(findings...) {
		if f.State == api.Warning {
			warn(f)
		} else {
			add(f)
		}
	}
	for _, notice := range g.RuleNotices() { // those about all servers are known only now
		warn(api.Finding{Subject: "rules", State: api.Warning, Message: notice, Hint: whereToEdit(notice)})
	}
	return out, context.Cause(ctx)
}

// examineFile says what became of a file that was looked for.
func examineFile(f config.File) []api.Finding {
	subject := "config " + f.Path
	if f.Err != nil {
		hint := cmp.Or(f.Err.Hint, "mcpx config shows it")
		return []api.Finding{{Subject: subject, State: api.Failed, Message: within(f.Path, f.Err), Hint: hint}}
	}
	if f.State != config.Read {
		return nil
	}
	out := []api.Finding{{Subject: subject, State: api.Fine, Message: "read"}}
	if f.Project {
		out[0].Message = "read; of the project, and trusted"
		if !f.Trusted {
			out[0].Message = "read; of the project, so it can only tighten what you allow"
		}
	}
	if len(f.Ignored) > 0 {
		out = append(out, api.Finding{Subject: subject, State: api.Fine, Message: "keys that are not read here: " + strings.Join(f.Ignored, ", ")})
	}
	return out
}

// whereToEdit is the hint for a sentence that begins with its place.
func whereToEdit(text string) string {
	m := regexp.MustCompile(`^(.+?):([0-9]+)(?::[0-9]+)?: `).FindStringSubmatch(text)
	if m == nil {
		return "mcpx config shows where each entry comes from"
	}
	return "edit line " + m[2] + " of " + m[1]
}

// within is what is wrong with a file, for a sentence that has named it already.
func within(path string, err *fault.Error) string {
	if line, ok := err.Details["line"]; ok {
		place := fmt.Sprintf("%s:%v:%v: ", path, line, err.Details["column"])
		if what, ok := strings.CutPrefix(err.Message, place); ok {
			return fmt.Sprintf("line %v, column %v: %s", line, err.Details["column"], what)
		}
	}
	return strings.TrimPrefix(err.Message, "the configuration file "+path+" ")
}

// sight is what is seen of a server while its tools are read.
type sight struct {
	pool.Seen
	listed   time.Duration // from the open session on
	revision string
	era      mcp.Era
	info     mcp.Raw
}

// of notes what is seen of an instance, whose tools were asked for at a time.
func (s *sight) of(lease *pool.Lease, asked time.Time) {
	session := lease.Session()
	*s = sight{lease.Seen(), time.Since(asked), session.Revision(), session.Era(), session.ServerInfo()}
}

// examine starts the server and says what it finds.
func (s *server) examine(ctx context.Context) []api.Finding {
	subject := "server " + s.entry.Name
	if s.entry.Disabled {
		return []api.Finding{{Subject: subject, State: api.Fine, Message: "disabled in " + s.entry.Origin.String()}}
	}
	def, err := s.definition()
	if err != nil {
		return s.sick(nil, nil, err)
	}
	patience := 2 * settings.PoolStartTimeout.Get(s.g.settings) // the start has its own limit
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fault.Unavailablef("%s did not list its tools within %s", s.entry.Name, settings.FormatDuration(patience)).
		Hintf("give it longer with %s, or see what it waits for\nrun it by hand: %s", settings.PoolStartTimeout.Give(patience), s.byHand(def)))
	defer cancel()
	l, err := s.list(ctx)
	if err != nil {
		return s.sick(def, l, err)
	}
	entry := s.visible(l.entry)
	found := api.Finding{
		Subject: subject, State: api.Fine,
		Message: fmt.Sprintf("%s in %s", counted(len(entry.Tools), "tool"), span(l.sight.Took+l.sight.listed)),
		Details: slices.Concat(s.origin(def), l.sight.details(), toolDetails(entry, len(l.entry.Tools))),
	}
	out := []api.Finding{found}
	warn := func(message, hint string) {
		out = append(out, api.Finding{Subject: subject, State: api.Warning, Message: message, Hint: hint})
	}
	for _, w := range entry.Warnings {
		hint := "it is the server's to mend; its author wants to know"
		if strings.HasPrefix(w, s.entry.Origin.File) {
			hint = whereToEdit(w) // a rule
		}
		warn(w, hint)
	}
	for _, notice := range s.g.o.Pool.Notices() { // of scopes that came to another
		if what, ok := strings.CutPrefix(notice, def.Name+": "); ok {
			hint := "say in its mcpx block which scope is meant"
			if s.g.o.Pool.Unshared(def, s.g.caller) != "" {
				hint = giveSession
			}
			warn(what, hint)
		}
	}
	if n := l.sight.Noise; n > 0 {
		warn(fmt.Sprintf("wrote %s to standard output that %s no message; skipped", counted(n, "line"), are(n)),
			"a server's log belongs on standard error; mcpx doctor -v shows the lines")
	}
	if len(s.entry.Ignored) > 0 {
		out = append(out, api.Finding{Subject: subject, State: api.Fine, Message: "keys of other hosts, not read here: " + strings.Join(s.entry.Ignored, ", ")})
	}
	return out
}

// sick is the finding about a server that did not list its tools.
func (s *server) sick(def *config.Definition, l *listing, err error) []api.Finding {
	e := fault.From(s.warned(err))
	f := api.Finding{Subject: "server " + s.entry.Name, State: api.Failed, Message: e.Message, Hint: e.Hint, Details: s.origin(def)}
	if l != nil && isDone(l.done) {
		f.Details = append(f.Details, l.sight.details()...)
	}
	if f.Hint == "" {
		f.Hint = whereToEdit(e.Message)
		if def != nil {
			f.Hint = "run it by hand: " + s.byHand(def)
		}
	}
	return []api.Finding{f}
}

// byHand is a command with which a person tries the same.
func (s *server) byHand(def *config.Definition) string {
	if def.Transport == config.Stdio {
		return def.Redact(def.ByHand())
	}
	return "mcpx tools -v " + fault.ShellWord(s.entry.Name)
}

// origin is what the entry comes to. def is nil if it comes to nothing.
func (s *server) origin(def *config.Definition) []api.Detail {
	out := []api.Detail{{Name: "entry", Value: s.entry.Origin.String()}}
	if def == nil {
		return out
	}
	if def.Transport != config.Stdio {
		return append(out, api.Detail{Name: "address", Value: def.Redact(s.entry.URL)}) // placeholders as they are written
	}
	out = append(out, api.Detail{Name: "by hand", Value: def.Redact(def.ByHand())})
	if path := s.g.o.Pool.Path(def, s.g.caller); path != "" {
		out = append(out, api.Detail{Name: "looked in", Value: path})
	}
	return out
}

// details are what was seen, for whoever wants to know all of it.
func (s sight) details() []api.Detail {
	var out []api.Detail
	add := func(name, value string) {
		if value != "" {
			out = append(out, api.Detail{Name: name, Value: value})
		}
	}
	add("program", s.Program)
	if s.revision != "" {
		add("started in", span(s.Took))
		add("listed in", span(s.listed))
		add("protocol", s.revision+" ("+s.era.String()+")")
		var info struct{ Name, Version string }
		if json.Unmarshal(s.info, &info) == nil {
			add("says it is", strings.TrimSpace(info.Name+" "+info.Version))
		}
	}
	add("standard error", s.Said.Stderr)
	add("no messages", s.Said.Stdout)
	return out
}

// toolDetails says how many tools are not shown, and how many may change something.
func toolDetails(entry *catalog.Entry, all int) []api.Detail {
	var out []api.Detail
	if hidden := all - len(entry.Tools); hidden > 0 {
		out = append(out, api.Detail{Name: "hidden", Value: counted(hidden, "tool") + " by rules"})
	}
	silent, writes := 0, 0
	for _, t := range entry.Tools {
		switch {
		case len(t.Annotations) == 0:
			silent++
		case !t.ReadOnly():
			writes++
		}
	}
	if silent+writes > 0 {
		out = append(out, api.Detail{Name: "write policy", Value: fmt.Sprintf("applies to %s: %d may change something, %d do not say", counted(silent+writes, "tool"), writes, silent)})
	}
	return out
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// span writes how long something took, as exactly as anybody reads.
func span(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// giveSession is how a caller gets a session.
const giveSession = "name a session: mcpx --session NAME, or export MCPX_SESSION_ID=NAME"

// fleeting warns a caller for whom what a call leaves in the server ends with the call.
func (s *server) fleeting() []string {
	def, err := s.definition()
	if err != nil {
		return nil
	}
	why := s.g.o.Pool.Unshared(def, s.g.caller)
	if why == "" {
		return nil
	}
	return []string{fmt.Sprintf("%s ends with this call, and what it keeps with it: %s\n%s", s.entry.Name, why, giveSession)}
}
