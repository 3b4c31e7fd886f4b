package cli

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/settings"
	"mcpx/internal/spelling"
)

// unmet says of words in flags about grants that they mean nothing that is there: most likely
// they are misspelt, and what they should allow or take away is not what they do. Nothing is
// started to find that out.
func (v *invocation) unmet(ctx context.Context, b Backend) {
	if v.p.Tool != nil {
		return // its words were looked at when it was built
	}
	servers := []string(nil)
	if v.permissions.allow["tools"] != nil || v.permissions.deny["tools"] != nil {
		out, err := b.Config(ctx, api.ConfigInput{})
		if err != nil || slices.ContainsFunc(out.Files, func(f api.ConfigFile) bool { return f.Error != nil }) {
			return // which the command says itself
		}
		for _, s := range out.Servers {
			servers = append(servers, s.Name)
		}
	}
	for _, side := range []struct {
		flag  string
		words map[string][]string
	}{{"--allow-", v.permissions.allow}, {"--deny-", v.permissions.deny}} {
		for _, grant := range slices.Sorted(maps.Keys(side.words)) {
			for _, w := range side.words[grant] {
				why := ""
				switch grant {
				case "tools":
					why = unmetTool(w, servers, b.Known)
				case "read", "write", "imports", "run":
					why = v.unmetPath(grant, w)
				}
				if why != "" {
					v.say("%s%s=%s: %s", side.flag, grant, w, why)
				}
			}
		}
	}
}

// unmetTool says why a word about tools means none; nothing if it may mean one. Known are the
// tools of a server as far as they are known.
func unmetTool(word string, servers []string, known func(server string) []string) string {
	name := word
	if !slices.Contains(servers, word) {
		name = strings.TrimSuffix(word, ":read")
	}
	if strings.Contains(name, "*") {
		return ""
	}
	server := ""
	for _, s := range servers {
		for end := range len(name) + 1 {
			if (end == len(name) || name[end] == '.') && spelling.Same(name[:end], s) && len(s) > len(server) {
				server, name = s, s+name[end:]
			}
		}
	}
	if server == "" {
		first, _, _ := strings.Cut(name, ".")
		return sentence(`no server is called "`+first+`"`, didYouMean(first, servers, "%s"))
	}
	tool := strings.TrimPrefix(strings.TrimPrefix(name, server), ".")
	tools := known(server)
	if tool == "" || len(tools) == 0 || slices.ContainsFunc(tools, func(t string) bool { return spelling.Same(t, tool) }) {
		return ""
	}
	return sentence(server+` has no tool called "`+tool+`"`, didYouMean(tool, tools, strings.ReplaceAll(server, "%", "%%")+".%s"))
}

// sentence puts what was meant, if that is known, behind what is wrong.
func sentence(wrong, meant string) string {
	if meant == "" {
		return wrong
	}
	return wrong + "; " + strings.TrimSpace(meant)
}

// unmetPath says why a path means nothing; nothing if it may mean something. What is to be
// written need not be there, nor what is to be read of that.
func (v *invocation) unmetPath(grant, word string) string {
	path := word
	if rest, ok := strings.CutPrefix(word, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		path = v.p.getenv("HOME") + rest
	}
	if word == "*" || settings.DaemonEndpoint.Get(v.settings) != "" || v.kindOfPath(path) != nowhere {
		return ""
	}
	slash := string(filepath.Separator)
	path = strings.TrimRight(path, slash)
	dir, base := filepath.Split(strings.TrimRight(word, slash))
	meant := ""
	if entries, err := os.ReadDir(v.path(filepath.Dir(path))); err == nil {
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		meant = didYouMean(base, names, strings.ReplaceAll(dir, "%", "%%")+"%s")
	} else if grant == "write" {
		return "there is no directory " + filepath.Dir(word)
	}
	if meant == "" && (grant == "write" || grant == "read" && slices.Contains(v.permissions.allow["write"], word)) {
		return ""
	}
	return sentence("there is no such file or directory", meant)
}
