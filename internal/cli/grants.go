package cli

import (
	"flag"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// grantFlag is --allow-GRANT[=WORDS] or --deny-GRANT[=WORDS]. The words stand behind "="
// only, so that a flag without them never takes the word that follows. As with a
// settingFlag, urfave/cli only knows that it is there.
type grantFlag struct {
	names []string
	usage string
	grant string
	deny  bool
	words string // what they are, for people
}

func (f *grantFlag) Names() []string           { return f.names }
func (f *grantFlag) String() string            { return dashed(f.names[0]) }
func (f *grantFlag) IsSet() bool               { return false }
func (f *grantFlag) Apply(*flag.FlagSet) error { return nil }

// grantFlags are the flags of commands that run scripts.
func grantFlags() []cli.Flag {
	flags := []cli.Flag{
		&cli.BoolFlag{Name: "allow-all", Aliases: []string{"A"}, Usage: "let the script do all that you may do (--permissions=all)"},
	}
	allow := []struct{ grant, words, doc string }{
		{"tools", "TOOLS", "these tools and no others: NS, NS.TOOL, NS:read (those that only read)"},
		{"read", "PATHS", "these files and folders; without a path, all"},
		{"write", "PATHS", "write there; without a path, everywhere"},
		{"net", "HOSTS", "HOST[:PORT], *.HOST, IP or CIDR; without one, all that is public"},
		{"env", "NAMES", "these variables; without a name, all"},
		{"run", "PROGRAMS", "start these, by whole path: no grant binds what they do"},
		{"imports", "FOLDERS", "import files from there besides the script's own folder"},
	}
	for _, a := range allow {
		flags = append(flags, &grantFlag{[]string{"allow-" + a.grant}, a.doc, a.grant, false, a.words})
	}
	for _, a := range allow {
		flags = append(flags, &grantFlag{[]string{"deny-" + a.grant}, "take this away from what is allowed; without words, all of it", a.grant, true, a.words})
	}
	return flags
}

// permissions are the flags about grants, as they were given.
type permissions struct {
	all         bool
	allow, deny map[string][]string
}

// add notes one flag. A flag without words asks for all, whatever else is said.
func (p *permissions) add(f setFlag) {
	to := &p.allow
	if f.deny {
		to = &p.deny
	}
	if *to == nil {
		*to = map[string][]string{}
	}
	before, given := (*to)[f.grant]
	if f.value == "" || given && len(before) == 0 {
		(*to)[f.grant] = []string{}
		return
	}
	for word := range strings.SplitSeq(f.value, ",") {
		if word = strings.TrimSpace(word); word != "" {
			before = append(before, word)
		}
	}
	(*to)[f.grant] = before
}

// apply gives a run what the flags say.
func (p *permissions) apply(in *api.ExecInput, profileGiven bool) error {
	if p.all {
		if profileGiven {
			return fault.Usagef("-A is --permissions=all, and --permissions is given as well").Hintf("give one of them")
		}
		in.Permissions = "all"
	}
	in.Allow, in.Deny = p.allow, p.deny
	return nil
}
