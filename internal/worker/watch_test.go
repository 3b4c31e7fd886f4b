package worker

import (
	"encoding/json"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/frame"
	"mcpx/internal/grant"
)

// told is what a watcher said.
type told struct {
	mu               sync.Mutex
	interrupt, ended error
	at               [2]time.Time
	done             chan struct{}
}

func (o *told) watch(l Limits) *watcher {
	o.done = make(chan struct{})
	return watch(l,
		func(why error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.interrupt, o.at[0] = why, time.Now()
		},
		func(why error) {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.ended, o.at[1] = why, time.Now()
			close(o.done)
		})
}

func TestTheWatcherInterruptsAndThenEnds(t *testing.T) {
	t.Parallel()
	for limit, l := range map[string]Limits{LimitMemory: {Memory: 1 << 20}, LimitCPU: {CPU: time.Nanosecond}} {
		var o told
		kept := make([]byte, 4<<20)
		w := o.watch(l)
		select {
		case <-o.done:
		case <-time.After(time.Minute):
			t.Fatalf("%s: the watcher has said nothing", limit)
		}
		w.stop()
		kept[0] = 1
		for _, err := range []error{o.interrupt, o.ended} {
			var e *fault.Error
			if !errors.As(err, &e) || e.Kind != fault.Limit || e.Details["limit"] != limit {
				t.Errorf("%s: the watcher said %v, want a limit with that detail", limit, err)
			}
		}
		if grace := o.at[1].Sub(o.at[0]); limit == LimitCPU && grace < cpuGrace {
			t.Errorf("%s: there were %s between the two, want %s", limit, grace, cpuGrace)
		}
	}
}

func TestTheWatcherIsQuietBelowTheLimits(t *testing.T) {
	t.Parallel()
	for _, l := range []Limits{{}, {Memory: 1 << 40, CPU: time.Hour}} {
		var o told
		w := o.watch(l)
		time.Sleep(20 * time.Millisecond)
		w.stop()
		w.stop()
		if o.interrupt != nil || o.ended != nil {
			t.Errorf("watching %+v said %v, %v", l, o.interrupt, o.ended)
		}
	}
}

// Not parallel: it counts allocations.
func TestWatchingAllocatesNothing(t *testing.T) {
	w := watch(Limits{}, nil, nil)
	w.limits = Limits{Memory: 1 << 40, CPU: time.Hour}
	if n := testing.AllocsPerRun(100, func() {
		if limit, _ := w.exceeded(); limit != "" {
			t.Error(limit)
		}
	}); n > 0 {
		t.Errorf("a look allocates %v times", n)
	}
}

// steps notes what a worker does to its process.
type steps struct {
	mu   sync.Mutex
	list []string
}

func (s *steps) note(step string, fails error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, step)
	return fails
}

func (s *steps) process(fails map[string]error) Process {
	return Process{
		Level: "some", Missing: "something",
		Limit: func(Limits) error { return s.note("limit", fails["limit"]) },
		Wall:  func(roots []string) error { return s.note("wall "+strings.Join(roots, ","), fails["wall"]) },
		Seal:  func() error { return s.note("seal", fails["seal"]) },
	}
}

func TestTheProcessIsLockedBeforeTheScript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, tt := range []struct {
		name  string
		run   Run
		code  string
		fails map[string]error
		want  string
	}{
		{name: "text", run: Run{Name: "exec"}, code: "1", want: "limit seal"},
		{name: "a file without imports", run: Run{Name: "a.ts", File: dir + "/a.ts"}, code: "1", want: "limit seal"},
		{name: "text is given no files", run: Run{Name: "exec", Imports: grant.Words{Allow: []string{dir}}}, code: "1", want: "limit seal"},
		{name: "a file with imports", run: Run{Name: "a.ts", File: dir + "/a.ts", Imports: grant.Words{Allow: []string{"/nowhere"}}}, code: "1", want: "limit wall /nowhere seal"},
		{name: "a text that does not parse", run: Run{Name: "exec"}, code: "const = 1", want: "limit seal"},
		{name: "limits that cannot be set", run: Run{Name: "exec"}, fails: map[string]error{"limit": errors.New("no")}, want: "limit"},
		{name: "a wall that cannot be made", run: Run{Name: "a.ts", File: dir + "/a.ts", Imports: grant.Words{Allow: []string{"/nowhere"}}}, fails: map[string]error{"wall": errors.New("no")}, want: "limit wall /nowhere"},
		{name: "a seal that cannot be made", run: Run{Name: "exec"}, fails: map[string]error{"seal": errors.New("no")}, want: "limit seal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var s steps
			b := meetWith(t, s.process(tt.fails))
			tt.run.InFlight, tt.run.MaxBody = 4, maxBody
			b.send(t, frame.Run, 0, tt.run, tt.code)
			f, err := b.conn.Receive()
			if err != nil {
				t.Fatal(err)
			}
			if tt.fails != nil {
				var e fault.Error
				if err := json.Unmarshal(f.Body, &e); f.Type != frame.Fail || err != nil || e.Kind != fault.Unavailable || !strings.Contains(e.Message, "no") {
					t.Errorf("the worker sent %s %s, want that it fails", f.Type, f.Body)
				}
				if err := <-b.served; err != nil {
					t.Error(err)
				}
			} else if f.Type != frame.End {
				t.Errorf("the worker sent %s %s, want the end", f.Type, f.Body)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if got := strings.Join(s.list, " "); got != tt.want {
				t.Errorf("the worker did %q, want %q", got, tt.want)
			}
		})
	}
}

func TestReadySaysTheLevel(t *testing.T) {
	t.Parallel()
	var s steps
	b := meetReady(t, s.process(nil))
	if b.Level != "some" || b.Missing != "something" || b.Build != Build() {
		t.Errorf("ready says %+v", b)
	}
	if b := meetReady(t, Process{}); b.Level != "none" {
		t.Errorf("ready of a worker that does nothing says %+v, want none", b)
	}
}

// meetReady is what the first frame of a worker says.
func meetReady(t *testing.T, p Process) (r Ready) {
	t.Helper()
	near, far := net.Pipe()
	p.Exit = func(int) {}
	served := make(chan error, 1)
	go func() { served <- Serve(far, p) }()
	f, err := frame.NewConn(near, maxBody).Receive()
	if err != nil || f.Type != frame.Ready || json.Unmarshal(f.Head, &r) != nil {
		t.Errorf("the first frame is %s %s, %v", f.Type, f.Head, err)
	}
	_ = near.Close()
	<-served
	return r
}
