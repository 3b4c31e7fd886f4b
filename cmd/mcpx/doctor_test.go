package main

import (
	"encoding/json"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"mcpx/internal/api"
)

// findings checks the answer of the last command, mcpx doctor --json, against what it is
// to hold: findings [STATE SUBJECT]… where SUBJECT may end in *. Each finding that is not ok
// must have a hint, and each of those that are named must be there in that state.
func findings(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args)%2 != 0 {
		ts.Fatalf("usage: findings [STATE SUBJECT]…")
	}
	out := report(ts)
	failed := false
	for _, f := range out.Findings {
		failed = failed || f.State == api.Failed
		if f.State != api.Fine && f.Hint == "" {
			ts.Fatalf("a finding without a hint: %+v", f)
		}
	}
	if out.Healthy == failed {
		ts.Fatalf("healthy is %t and a finding has failed is %t", out.Healthy, failed)
	}
	for i := 0; i < len(args); i += 2 {
		if _, ok := find(out, args[i], args[i+1]); !ok {
			ts.Fatalf("no finding is %s about %s: %+v", args[i], args[i+1], out.Findings)
		}
	}
}

// follow runs the hint of a finding of the last command, mcpx doctor --json, in a shell:
// follow STATE SUBJECT.
func follow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: follow STATE SUBJECT")
	}
	f, ok := find(report(ts), args[0], args[1])
	if !ok {
		ts.Fatalf("no finding is %s about %s", args[0], args[1])
	}
	ts.Check(ts.Exec("sh", "-c", f.Hint))
}

func report(ts *testscript.TestScript) *api.DoctorOutput {
	var out api.DoctorOutput
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &out))
	if len(out.Findings) == 0 {
		ts.Fatalf("the last command has found nothing")
	}
	return &out
}

func find(out *api.DoctorOutput, state, subject string) (api.Finding, bool) {
	for _, f := range out.Findings {
		begin, open := strings.CutSuffix(subject, "*")
		if f.State == state && (f.Subject == subject || open && strings.HasPrefix(f.Subject, begin)) {
			return f, true
		}
	}
	return api.Finding{}, false
}
