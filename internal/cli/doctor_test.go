package cli

import (
	"testing"

	"mcpx/internal/api"
)

func TestDoctor(t *testing.T) {
	t.Parallel()
	fine := api.Finding{Subject: "config /w/.mcp.json", State: api.Fine, Message: "read"}
	odd := api.Finding{Subject: "server x", State: api.Warning, Message: "wrote 2 lines", Hint: "a server's log belongs on standard error"}
	seen := api.Finding{Subject: "server y", State: api.Fine, Message: "3 tools", Details: []api.Detail{
		{Name: "program", Value: "/bin/y"}, {Name: "standard error", Value: "one\ntwo"}, {Name: "entry", Value: "/w/.mcp.json:3"},
	}}
	sick := api.Finding{Subject: "server x", State: api.Failed, Message: "exited with code 3\nlast words", Hint: "look\nrun it by hand: x"}
	tests := []struct {
		name     string
		findings []api.Finding
		args     []string
		code     int
		want     string
	}{
		{"all is well", []api.Finding{fine, seen}, nil, 0, "ok       config /w/.mcp.json: read\nok       server y: 3 tools\n"},
		{"something is odd", []api.Finding{fine, odd}, nil, 0, "ok       config /w/.mcp.json: read\nwarning  server x: wrote 2 lines\n" +
			"    a server's log belongs on standard error\n\n1 warning, 1 ok\n"},
		{"something has failed", []api.Finding{sick, odd, odd}, nil, 1, "failed   server x: exited with code 3\n    last words\n    look\n    run it by hand: x\n" +
			"warning  server x: wrote 2 lines\n    a server's log belongs on standard error\n" +
			"warning  server x: wrote 2 lines\n    a server's log belongs on standard error\n\n1 failed, 2 warnings\n"},
		{"what was seen", []api.Finding{seen}, []string{"-v"}, 0, "ok       server y: 3 tools\n      program  /bin/y\n      entry    /w/.mcp.json:3\n" +
			"      standard error:\n        one\n        two\n"},
		{"a document", []api.Finding{sick}, []string{"--json"}, 1, `{"healthy":false,"findings":[{"subject":"server x","state":"failed",` +
			`"message":"exited with code 3\nlast words","hint":"look\nrun it by hand: x"}]}` + "\n"},
		{
			"a document holds all",
			[]api.Finding{{Subject: "s", State: api.Fine, Message: "m", Details: []api.Detail{{Name: "n", Value: "v"}}}},
			[]string{"--json"},
			0,
			`{"healthy":true,"findings":[{"subject":"s","state":"ok","message":"m","details":[{"name":"n","value":"v"}]}]}` + "\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := &desk{doctor: &api.DoctorOutput{Healthy: tt.code == 0, Findings: tt.findings}}
			drive(t, d, append([]string{"doctor"}, tt.args...)...).want(t, tt.code, tt.want, "")
			if d.options.Daemon != OwnProcess || !d.options.Survey {
				t.Errorf("it opens %+v, want its own process, which takes what is wrong for findings", d.options)
			}
		})
	}
}

func TestDoctorTakesNoArguments(t *testing.T) {
	t.Parallel()
	drive(t, &desk{}, "doctor", "x").want(t, 2, "", "mcpx: doctor: unexpected argument \"x\"\n  usage: mcpx doctor [flags]\n")
}
