package config

import (
	"strings"
	"testing"

	"mcpx/internal/rule"
)

// hides are those of some tools that the rules of a server hide.
func hides(t *testing.T, c *Config, server string, tools ...string) string {
	t.Helper()
	s, ok := c.Server(server)
	if !ok || s.Problem != nil {
		t.Fatalf("server %s: %v, %v", server, ok, s)
	}
	var out []string
	for _, name := range tools {
		if _, hidden := s.Rules.Hidden(name); hidden {
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

func TestRulesOfAllPlacesAreRead(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		".mcpx.json": `{ "mcpServers": {
  "a": { "command": "x", "mcpx": { "excludeTools": ["one"], "argumentRules": { "get_*": { "required": ["p"] } } } },
  "b": { "command": "x", "mcpx": { "tools": null, "writePolicy": "deny" } },
  "c": { "command": "x" } },
 "pool": { "excludeTools": ["/^two/"], "callMax": "1m" } }`,
		"home/.mcpx.json": `{ "mcpServers": {
  "a": { "command": "y", "mcpx": { "excludeTools": ["three"], "writePolicy": "deny" } } },
 "pool": { "excludeTools": ["fo?r"], "argumentRules": { "*": { "maxProperties": 9 } } } }`,
	})
	c := tr.load("")
	all := []string{"one", "two_x", "three", "four", "five"}
	equal(t, "hidden of a", hides(t, c, "a", all...), "one two_x three four")
	equal(t, "hidden of b", hides(t, c, "b", all...), "two_x four")
	equal(t, "hidden of c", hides(t, c, "c", all...), "two_x four")
	a, _ := c.Server("a")
	var keys []string
	for _, r := range a.Rules.For("get_x") {
		keys = append(keys, tr.relative(r.From.String()))
	}
	equal(t, "argument rules of a.get_x", strings.Join(keys, "\n"), `
/.mcpx.json:2: server "a": mcpx.argumentRules["get_*"]
/home/.mcpx.json:3: pool.argumentRules["*"]`)
	if policy, _ := a.Rules.Writing(rule.Allow, ""); policy != rule.Deny {
		t.Errorf("the entry that a replaces says deny, and a project's file made it %s", policy)
	}
	for _, w := range c.Warnings {
		t.Errorf("warning: %s", w)
	}
}

func TestRulesThatCannotBeUsedCloseTheirServer(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, block, want string }{
		{"a regular expression", `{ "excludeTools": ["ok", "/(/"] }`, `/.mcpx.json:1: server "a": mcpx.excludeTools[1]: the pattern "/(/" cannot be used: it is no regular expression: `},
		{"a glob", `{ "tools": ["get_[a"] }`, `/.mcpx.json:1: server "a": mcpx.tools[0]: the pattern "get_[a" cannot be used: a [ is not closed by ]`},
		{"no list", `{ "extraIncludeTools": "x" }`, `/.mcpx.json:1: server "a": mcpx.extraIncludeTools: a string where a list is needed`},
		{"no pattern", `{ "tools": [1] }`, `/.mcpx.json:1: server "a": mcpx.tools[0]: a number where a pattern is needed`},
		{"a schema", `{ "argumentRules": { "x": { "properties": { "p": { "pattern": "(" } } } } }`, `/.mcpx.json:1: server "a": mcpx.argumentRules["x"]: the schema cannot be used: at /properties/p/pattern: the pattern (: `},
		{"a pattern of a schema", `{ "argumentRules": { "[": {} } }`, `/.mcpx.json:1: server "a": mcpx.argumentRules["["]: the pattern "[" cannot be used: `},
		{"no schema", `{ "argumentRules": { "x": true } }`, `/.mcpx.json:1: server "a": mcpx.argumentRules["x"]: true or false where an object is needed`},
		{"a policy", `{ "writePolicy": "never" }`, `/.mcpx.json:1: server "a": mcpx.writePolicy: "never" is no policy`},
		{"no policy", `{ "writePolicy": true }`, `/.mcpx.json:1: server "a": mcpx.writePolicy: true or false is no policy`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tr := newTree(t, map[string]string{
				".mcpx.json": `{ "mcpServers": { "a": { "command": "x", "mcpx": ` + tt.block + ` }, "b": { "command": "x" } } }`,
			})
			c := tr.load("")
			a, _ := c.Server("a")
			if a.Problem == nil || !strings.HasPrefix(tr.relative(a.Problem.Message), tt.want) {
				t.Errorf("a: %v, want %s", a.Problem, tt.want)
			}
			if b, _ := c.Server("b"); b.Problem != nil {
				t.Errorf("b: %v", b.Problem)
			}
			// The same in an entry that a nearer one takes the place of: its rules would be lost.
			tr = newTree(t, map[string]string{
				".mcpx.json":      `{ "mcpServers": { "a": { "command": "y" }, "b": { "command": "x" } } }`,
				"home/.mcpx.json": `{ "mcpServers": { "a": { "command": "x", "mcpx": ` + tt.block + ` } } }`,
			})
			c = tr.load("")
			if a, _ := c.Server("a"); a.Problem == nil || !strings.Contains(a.Problem.Message, "home/.mcpx.json:1") {
				t.Errorf("a in the place of another: %v", a.Problem)
			}
			if b, _ := c.Server("b"); b.Problem != nil {
				t.Errorf("b: %v", b.Problem)
			}
		})
	}
	tr := newTree(t, map[string]string{
		".mcpx.json":      `{ "mcpServers": { "a": { "command": "x" } } }`,
		"home/.mcpx.json": "{\n \"pool\": { \"excludeTools\": [\"/(/\"] } }",
	})
	a, _ := tr.load("").Server("a")
	if a.Problem == nil || !strings.HasPrefix(tr.relative(a.Problem.Message), `/home/.mcpx.json:2:29: pool.excludeTools[0]: the pattern "/(/" cannot be used`) {
		t.Errorf("a rule for every server that cannot be used: %v", a.Problem)
	}
}

func TestAnAliasOfAProjectKeepsTheRulesOfItsServer(t *testing.T) {
	t.Parallel()
	tr := newTree(t, map[string]string{
		".mcpx.json": `{ "mcpServers": { "other": { "mcpx": { "aliasOf": "mine", "tools": ["*"], "writePolicy": "allow" } } } }`,
		"home/.mcpx.json": `{ "mcpServers": { "mine": { "command": "x", "mcpx": { "excludeTools": ["danger"], "writePolicy": "deny" } },
  "own": { "mcpx": { "aliasOf": "mine" } } } }`,
	})
	c := tr.load("")
	equal(t, "hidden of a project's alias", hides(t, c, "other", "danger", "fine"), "danger")
	other, _ := c.Server("other")
	if policy, _ := other.Rules.Writing(rule.Allow, ""); policy != rule.Deny {
		t.Errorf("the write policy of a project's alias is %s", policy)
	}
	equal(t, "hidden of the user's alias", hides(t, c, "own", "danger", "fine"), "")
}

func TestAServerIsAllowedToWrite(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{
			"without a block", "{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\"\n    }\n  }\n}\n",
			"{\n  // mine\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"x\",\n      \"mcpx\": { \"writePolicy\": \"allow\" }\n    }\n  }\n}\n",
		},
		{
			"with a block", `{ "mcpServers": { "a": { "command": "x", "mcpx": { "max": 2 } } } }`,
			`{ "mcpServers": { "a": { "command": "x", "mcpx": { "max": 2, "writePolicy": "allow" } } } }`,
		},
		{
			"with a trailing comma", "{ \"mcpServers\": { \"a\": { \"command\": \"x\", \"mcpx\": {\n  \"max\": 2, // two\n} } } }",
			"",
		},
		{
			"with another policy", `{ "mcpServers": { "a": { "command": "x", "mcpx": { "writePolicy": "deny" /* why */ } } } }`,
			`{ "mcpServers": { "a": { "command": "x", "mcpx": { "writePolicy": "allow" /* why */ } } } }`,
		},
	}
	for _, tt := range tests {
		got, err := AllowWrites("/c.json", []byte(tt.text), "a")
		if err != nil || tt.want != "" && string(got) != tt.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", tt.name, err, got, tt.want)
			continue
		}
		tr := newTree(t, map[string]string{"home/.mcpx.json": string(got)})
		a, _ := tr.load("").Server("a")
		if a.Problem != nil {
			t.Errorf("%s: %v in\n%s", tt.name, a.Problem, got)
		} else if policy, _ := a.Rules.Writing(rule.Ask, ""); policy != rule.Allow {
			t.Errorf("%s: the policy is %s", tt.name, policy)
		}
	}
	// In mcpx's own file the policy may stand on the entry, and is not to be said twice.
	beside := `{ "mcpServers": { "a": { "command": "x", "writePolicy": "deny", "mcpx": { "max": 2 } } } }`
	if got, err := AllowWrites("/w/.mcpx.json", []byte(beside), "a"); err != nil || string(got) != strings.Replace(beside, "deny", "allow", 1) {
		t.Errorf("beside a block: %v\n%s", err, got)
	}
	if got, err := AllowWrites("/w/.mcp.json", []byte(beside), "a"); err != nil || string(got) != strings.Replace(beside, `2 }`, `2, "writePolicy": "allow" }`, 1) {
		t.Errorf("where nothing reads it: %v\n%s", err, got)
	}
	for _, text := range []string{`{}`, `{ "mcpServers": { "b": {} } }`, `{ "mcpServers": { "a": { "command": "x", "mcpx": 1 } } }`, `{`} {
		if _, err := AllowWrites("/c.json", []byte(text), "a"); err == nil {
			t.Errorf("%s was changed", text)
		}
	}
}

func TestANewServerSaysWhetherItMayWrite(t *testing.T) {
	t.Parallel()
	text, _, err := Add("/c.json", nil, NewServer{Name: "a", Command: []string{"x"}, WritePolicy: "allow"}, false)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := newTree(t, map[string]string{"home/.mcpx.json": string(text)}).load("").Server("a")
	if policy, from := a.Rules.Writing(rule.Ask, ""); policy != rule.Allow || from == nil {
		t.Errorf("the policy is %s (%v) in\n%s", policy, from, text)
	}
	if _, _, err := Add("/c.json", nil, NewServer{Name: "a", Command: []string{"x"}, WritePolicy: "maybe"}, false); err == nil {
		t.Error("a policy that is none was written")
	}
}
