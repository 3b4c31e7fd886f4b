package settings

import (
	"fmt"
	"slices"
	"strings"
)

// prefix is what the names of all our variables begin with.
const prefix = "MCPX_"

// The variables that mcpx sets for programs that it starts. Told describes them.
const (
	ToldEndpoint = "MCPX_DAEMON_ENDPOINT"
	ToldSession  = "MCPX_SESSION_ID"
)

// Variable is one that mcpx sets for programs that it starts.
type Variable struct {
	Name string
	For  string // which programs
	Doc  string
}

// Told lists them, in the order of their names. docs/environment.md is made from it.
func Told() []Variable {
	return []Variable{
		{ToldEndpoint, "servers of the daemon", "Where the daemon that started the server listens, such as `unix:/home/u/.local/state/mcpx/1f3a.sock`."},
		{ToldSession, "servers of the scope session", "The session that the server was started for. An mcpx that the server starts itself is of the same session."},
	}
}

// otherVariables are ours and no settings: those that parts of the program read, and
// those of its tests. A variable that is read somewhere is declared here.
var otherVariables = []string{
	"MCPX_CONFIG",     // the one configuration file: config
	"MCPX_STATE_DIR",  // the state directory: store
	"MCPX_SESSION_ID", // the session of an agent that runs mcpx

	"MCPX_MATRIX_DIR", "MCPX_MCPTEST", "MCPX_SUITE_DIR", "MCPX_TEST_ALL", "MCPX_TEST_CHILD", "MCPX_TEST_LOAD", "MCPX_TEST_ROLE",
}

// Stray is a variable that begins like ours and that nothing reads.
type Stray struct {
	Name    string
	Nearest string // the variable that may have been meant; empty if none is near
}

// String is a sentence about the variable.
func (s Stray) String() string {
	if s.Nearest == "" {
		return fmt.Sprintf("the variable %s has no effect: nothing reads it", s.Name)
	}
	return fmt.Sprintf("the variable %s has no effect: nothing reads it; did you mean %s?", s.Name, s.Nearest)
}

// Strays finds the variables of an environment, a list of NAME=VALUE, that begin with
// MCPX_ and that are neither settings nor read by another part of the program. As
// elsewhere, a variable that is set but empty counts as not set.
func Strays(environ []string) []Stray {
	var known []string
	var found []Stray
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, prefix) || value == "" {
			continue
		}
		if known == nil {
			known = slices.Clone(otherVariables)
			for _, v := range Told() { // this process may have been started by another of ours
				known = append(known, v.Name)
			}
			for _, d := range registry {
				known = append(known, d.info().Env)
			}
		}
		if !slices.Contains(known, name) {
			found = append(found, Stray{name, nearestVariable(name, known)})
		}
	}
	slices.SortFunc(found, func(a, b Stray) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// nearestVariable leaves the prefix out, which every name has, and finds a setting also
// by its flag's alias: MCPX_TIMEOUT.
func nearestVariable(name string, known []string) string {
	word := strings.TrimPrefix(name, prefix)
	for _, d := range registry {
		if i := d.info(); i.Alias != "" && strings.EqualFold(i.Alias, strings.ReplaceAll(word, "_", "-")) {
			return i.Env
		}
	}
	var candidates []string
	for _, k := range known {
		if !strings.HasPrefix(k, prefix+"TEST_") {
			candidates = append(candidates, strings.TrimPrefix(k, prefix))
		}
	}
	if near := Nearest(word, candidates); near != "" {
		return prefix + near
	}
	return ""
}
