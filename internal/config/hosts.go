package config

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Host is another program that keeps a list of MCP servers.
type Host struct {
	Name  string // as it is written in imports
	Title string // as its makers write it
	keys  []string
	// project are its files in a folder of a project, user those of the user's own.
	project []string
	user    func(e Env, goos string) []string
}

// goos is the platform, whose conventions say where files are.
const goos = runtime.GOOS

// Hosts lists the hosts whose files can be read in place or copied from.
func Hosts() []Host {
	below := func(path ...string) func(Env, string) []string {
		return func(e Env, _ string) []string { return e.below(path...) }
	}
	// inEditors are files of an extension of VS Code and its kin.
	inEditors := func(path ...string) func(Env, string) []string {
		return func(e Env, goos string) (out []string) {
			for _, edition := range []string{"Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"} {
				out = append(out, e.ofApp(goos, append([]string{edition, "User", "globalStorage"}, path...)...)...)
			}
			return out
		}
	}
	return []Host{
		{Name: "amazon-q", Title: "Amazon Q", project: []string{".amazonq/mcp.json"}, user: below(".aws", "amazonq", "mcp.json")},
		{Name: "claude-code", Title: "Claude Code", project: []string{".mcp.json"}, user: func(e Env, _ string) []string {
			if dir, ok := e.variable("CLAUDE_CONFIG_DIR"); ok && filepath.IsAbs(dir) {
				return []string{filepath.Join(dir, ".claude.json")}
			}
			return e.below(".claude.json")
		}},
		{Name: "claude-desktop", Title: "Claude Desktop", user: func(e Env, goos string) []string {
			return e.ofApp(goos, "Claude", "claude_desktop_config.json")
		}},
		{Name: "cline", Title: "Cline", user: inEditors("saoudrizwan.claude-dev", "settings", "cline_mcp_settings.json")},
		{Name: "codex", Title: "Codex", keys: []string{"mcp_servers"}, project: []string{".codex/config.toml"}, user: func(e Env, _ string) []string {
			if dir, ok := e.variable("CODEX_HOME"); ok && filepath.IsAbs(dir) {
				return []string{filepath.Join(dir, "config.toml")}
			}
			return e.below(".codex", "config.toml")
		}},
		{Name: "continue", Title: "Continue", user: below(".continue", "config.yaml")},
		{Name: "copilot", Title: "Copilot CLI", user: below(".copilot", "mcp-config.json")},
		{Name: "cursor", Title: "Cursor", project: []string{".cursor/mcp.json"}, user: below(".cursor", "mcp.json")},
		{Name: "gemini", Title: "Gemini CLI", project: []string{".gemini/settings.json"}, user: below(".gemini", "settings.json")},
		{Name: "goose", Title: "Goose", keys: []string{"extensions"}, user: func(e Env, goos string) []string {
			if goos == "windows" {
				return e.ofApp(goos, "Block", "goose", "config", "config.yaml")
			}
			return e.ofXDG("goose", "config.yaml")
		}},
		{Name: "junie", Title: "Junie", project: []string{".junie/mcp/mcp.json"}, user: below(".junie", "mcp", "mcp.json")},
		{Name: "kiro", Title: "Kiro", project: []string{".kiro/settings/mcp.json"}, user: below(".kiro", "settings", "mcp.json")},
		{Name: "lm-studio", Title: "LM Studio", user: below(".lmstudio", "mcp.json")},
		{Name: "opencode", Title: "opencode", keys: []string{"mcp"}, project: []string{"opencode.json", "opencode.jsonc"}, user: func(e Env, goos string) []string {
			return append(e.ofXDG("opencode", "opencode.json"), e.ofXDG("opencode", "opencode.jsonc")...)
		}},
		{Name: "qwen", Title: "Qwen Code", project: []string{".qwen/settings.json"}, user: below(".qwen", "settings.json")},
		{Name: "roo", Title: "Roo Code", project: []string{".roo/mcp.json"}, user: inEditors("rooveterinaryinc.roo-cline", "settings", "mcp_settings.json")},
		{Name: "vscode", Title: "VS Code", keys: []string{"servers", "mcp.servers"}, project: []string{".vscode/mcp.json"}, user: func(e Env, goos string) []string {
			var out []string
			for _, edition := range []string{"Code", "Code - Insiders", "VSCodium"} {
				out = append(out, e.ofApp(goos, edition, "User", "mcp.json")...)
				out = append(out, e.ofApp(goos, edition, "User", "settings.json")...)
			}
			return out
		}},
		{Name: "windsurf", Title: "Windsurf", user: below(".codeium", "windsurf", "mcp_config.json")},
		{Name: "zed", Title: "Zed", keys: []string{"context_servers"}, project: []string{".zed/settings.json"}, user: func(e Env, goos string) []string {
			if goos == "windows" {
				return e.ofApp(goos, "Zed", "settings.json")
			}
			return e.ofXDG("zed", "settings.json")
		}},
	}
}

// HostNames lists the names of the hosts.
func HostNames() []string {
	var names []string
	for _, h := range Hosts() {
		names = append(names, h.Name)
	}
	return names
}

// hostNamed finds a host, or nil.
func hostNamed(name string) *Host {
	if name == "" {
		return nil
	}
	for _, h := range Hosts() {
		if h.Name == name {
			return &h
		}
	}
	return nil
}

// below is a file below the home directory.
func (e Env) below(path ...string) []string {
	if e.Home == "" {
		return nil
	}
	return []string{filepath.Join(append([]string{e.Home}, path...)...)}
}

// ofXDG is a file below the directory of configuration files.
func (e Env) ofXDG(path ...string) []string {
	if dir, ok := e.variable("XDG_CONFIG_HOME"); ok && filepath.IsAbs(dir) {
		return []string{filepath.Join(append([]string{dir}, path...)...)}
	}
	return e.below(append([]string{".config"}, path...)...)
}

// ofApp is a file of a program with windows, where the platform keeps such.
func (e Env) ofApp(goos string, path ...string) []string {
	switch goos {
	case "darwin":
		return e.below(append([]string{"Library", "Application Support"}, path...)...)
	case "windows":
		if dir, ok := e.variable("APPDATA"); ok && filepath.IsAbs(dir) {
			return []string{filepath.Join(append([]string{dir}, path...)...)}
		}
		return e.below(append([]string{"AppData", "Roaming"}, path...)...)
	}
	return e.ofXDG(path...)
}

// places lists where the files of a host may be, nearest first: in the working directory
// and above it those of projects, then the user's own.
func (h *Host) places(e Env) []place {
	var out []place
	for dir := filepath.Clean(e.Dir); len(h.project) > 0; dir = filepath.Dir(dir) {
		if dir != e.Home { // there the same names are the user's
			for _, path := range h.project {
				out = append(out, place{path: filepath.Join(dir, filepath.FromSlash(path)), project: true, host: h.Name})
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, path := range h.user(e, goos) {
		out = append(out, place{path: path, host: h.Name, nowhere: true})
	}
	return out
}

// containers finds the objects of the host's file whose members are servers, the one that
// counts first.
func (h *Host) containers(r *reader, root *node) []*node {
	var out []*node
	if h.Name == "claude-code" {
		if _, p := r.nearestProject(root.get("projects")); p.get("mcpServers").isObject() {
			out = append(out, p.get("mcpServers"))
		}
	}
	keys := h.keys
	if keys == nil {
		keys = []string{"mcpServers"}
	}
	for _, key := range keys {
		n := root
		for k := range strings.SplitSeq(key, ".") {
			n = n.get(k)
		}
		if named := n.byName(); named != nil {
			out = append(out, named)
		}
	}
	return out
}

// builtIn reports whether an entry of Zed or Goose is about a server that the host, or an
// extension of it, brings along: it says nothing of how that is started.
func (r *reader) builtIn(n *node) bool {
	if n.get("command") != nil || n.get("cmd") != nil || n.get("url") != nil || n.get("uri") != nil {
		return false
	}
	if r.host == "zed" && (n.get("settings") != nil || n.get("source").word() == "extension") {
		return true
	}
	return r.doc.isYAML() && slices.Contains([]string{"builtin", "platform", "frontend", "inline_python"}, n.get("type").word())
}

// switchedOff returns which servers a file disables apart from their entries, as some hosts
// do.
func (r *reader) switchedOff(root *node) func(name string) bool {
	var off, only []string
	names := func(n *node) []string {
		var out []string
		if n != nil {
			for _, e := range n.list {
				out = append(out, e.text)
			}
		}
		return out
	}
	restricted := false
	switch {
	case root.get("projects").isObject():
		_, p := r.nearestProject(root.get("projects"))
		off = append(names(p.get("disabledMcpServers")), names(p.get("disabledMcpjsonServers"))...)
	case r.host == "gemini", r.host == "qwen":
		mcp := root.get("mcp")
		off = names(mcp.get("excluded"))
		only, restricted = names(mcp.get("allowed")), mcp.get("allowed") != nil
	}
	return func(name string) bool {
		return slices.Contains(off, name) || restricted && !slices.Contains(only, name)
	}
}
