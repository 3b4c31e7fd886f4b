// Package runtimes runs scripts on other runtimes that are installed: Deno, Bun and Node.
//
// What such a script may do is held by the runtime as far as it can hold it: the grants of
// a run become its flags, and what it cannot hold is refused before anything is started.
//
// What is started is one file in a directory of its own: imports of the modules that the
// script needs, the script as a function, and client.js, which connects to a socket on the
// loopback interface, makes the globals that mcpx gives, and calls the function. Over the
// socket go requests and answers, one JSON object a line; the first line is the token of
// the run, which nobody else has. Tools and artifacts are asked for there, and whoever runs
// the script (Broker) decides. What the script prints goes to the streams of its process.
package runtimes

import (
	"context"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

// Names are the runtimes that can be asked for.
var Names = []string{"deno", "bun", "node"}

// Runtime is one that is installed.
type Runtime struct {
	Name    string // one of Names
	Path    string
	Version string // 20.1.0
}

// Find returns the runtime of a name, or the one in the file that a path names, which must be
// called by such a name. lookup reads the environment; home is the user's home directory,
// empty if there is none. If there is no such runtime the error's kind is unavailable, and it
// says where it was looked for.
func Find(ctx context.Context, wanted string, lookup func(string) (string, bool), home string) (*Runtime, error) {
	name := strings.TrimSuffix(filepath.Base(filepath.ToSlash(wanted)), ".exe")
	if !slices.Contains(Names, name) {
		return nil, fault.Usagef("there is no runtime %q", wanted).Hintf("there are %s; without --runtime a script runs on mcpx itself", strings.Join(Names, ", "))
	}
	rt := &Runtime{Name: name}
	var searched []string
	if strings.ContainsAny(wanted, `/\`) {
		searched = []string{filepath.Dir(wanted)}
		if isProgram(wanted) {
			rt.Path = wanted
		}
	} else {
		path, _ := lookup("PATH")
		for _, dir := range filepath.SplitList(path) {
			if filepath.IsAbs(dir) {
				searched = append(searched, dir)
			}
		}
		if home != "" && name != "node" {
			searched = append(searched, filepath.Join(home, "."+name, "bin"))
		}
		for _, dir := range searched {
			for _, file := range []string{name, name + ".exe"} {
				if file := filepath.Join(dir, file); rt.Path == "" && isProgram(file) {
					rt.Path = file
				}
			}
		}
	}
	if rt.Path == "" {
		return nil, fault.Unavailablef("%s is not installed: it was looked for in %s", name, strings.Join(searched, ", ")).
			Hintf("install it, name its file as in --runtime=/opt/%s, or do without --runtime", name)
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	c := exec.CommandContext(ctx, rt.Path, "--version")
	c.Env, c.Dir = []string{"NO_COLOR=1"}, string(filepath.Separator)
	c.WaitDelay = time.Second
	text, err := c.Output()
	if err != nil {
		return nil, fault.Unavailablef("%s does not say its version: %w", rt.Path, err).Hintf("try it: %s --version", rt.Path)
	}
	words := strings.Fields(strings.TrimPrefix(strings.TrimSpace(string(text)), name))
	if len(words) > 0 {
		rt.Version = strings.TrimPrefix(words[0], "v")
	}
	return rt, nil
}

// askTimeout bounds the question for a version.
const askTimeout = 30 * time.Second

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (filepath.Ext(path) == ".exe" || info.Mode().Perm()&0o111 != 0)
}

// number returns the major and the minor number of the version, 0 for what it does not say.
func (rt *Runtime) number() (major, minor int) {
	first, rest, _ := strings.Cut(rt.Version, ".")
	second, _, _ := strings.Cut(rest, ".")
	major, _ = strconv.Atoi(first)
	minor, _ = strconv.Atoi(second)
	return major, minor
}

// arguments returns what stands before the program's file on the command line: the flags
// that have the runtime hold the grants. dir is the directory of relative paths, and the
// program must be able to read itself and to reach the port. If the runtime cannot hold the
// grants the error's kind is usage, and it says which.
func (rt *Runtime) arguments(set grant.Set, dir, program string, port int) ([]string, error) {
	f := flags{rt: rt, set: set, dir: dir}
	switch rt.Name {
	case "deno":
		return f.deno(program, port)
	case "node":
		return f.node(program)
	}
	return f.bun()
}

// flags makes the flags of a runtime from the grants of a run.
type flags struct {
	rt  *Runtime
	set grant.Set
	dir string
}

// cannot is the error for a grant that the runtime does not hold. instead is the hint.
func (f flags) cannot(what, instead string) error {
	return fault.Usagef("%s %s cannot keep a script to what is granted: %s", f.rt.Name, f.rt.Version, what).
		Hintf("%s", instead)
}

const useOurs = "run it on mcpx itself, which holds every grant"

// whole is the error for grants that are less than everything, nil if they are not.
func (f flags) whole() error {
	if !f.set.Everything {
		return f.cannot("it has no permissions at all", "allow everything with -A, or "+useOurs)
	}
	for _, g := range append(f.system(), held{grant.Network, f.set.Net}) {
		if len(g.words.Deny) > 0 {
			return f.cannot("nothing can be taken away ("+g.name+")", "leave out --deny-"+g.name+", or "+useOurs)
		}
	}
	return nil
}

// held is a grant that a runtime has to hold itself. Tools and artifacts are not among them,
// which are asked for, nor variables: the process has no others.
type held struct {
	name  string
	words grant.Words
}

// system returns the grants of files and programs, whose words are paths.
func (f flags) system() []held {
	return []held{{grant.Read, f.set.Read}, {grant.Write, f.set.Write}, {grant.Program, f.set.Run}}
}

// bun returns its flags. It has none for permissions.
func (f flags) bun() ([]string, error) {
	if err := f.whole(); err != nil {
		return nil, err
	}
	return []string{"run", "--no-install"}, nil
}

// paths returns the paths of a list, absolute, and those that symbolic links in them lead
// to; all says that the list has no bound.
func (f flags) paths(list []string) (paths []string, all bool) {
	for _, p := range list {
		if p == grant.Any {
			return nil, true
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(f.dir, p)
		}
		paths = append(paths, filepath.Clean(p))
		if real, err := filepath.EvalSymlinks(p); err == nil && real != filepath.Clean(p) {
			paths = append(paths, real)
		}
	}
	return paths, false
}

func (f flags) deno(program string, port int) ([]string, error) {
	args := []string{"run", "--no-prompt", "--no-config", "--no-lock", "--no-remote", "--no-npm", "--quiet", "--allow-env", "--allow-sys"}
	add := func(flag string, values []string) error {
		for _, v := range values {
			if strings.Contains(v, ",") {
				return f.cannot("it takes no name with a comma, such as "+v, useOurs)
			}
		}
		if len(values) > 0 {
			args = append(args, flag+"="+strings.Join(values, ","))
		}
		return nil
	}
	for _, g := range f.system() { // Deno's names are those of the grants
		allow, all := f.paths(g.words.Allow)
		deny, none := f.paths(g.words.Deny)
		if none {
			continue
		}
		if all {
			args = append(args, "--allow-"+g.name)
		} else {
			if g.name == grant.Read {
				allow = append(allow, program)
			}
			if err := add("--allow-"+g.name, allow); err != nil {
				return nil, err
			}
		}
		if err := add("--deny-"+g.name, deny); err != nil {
			return nil, err
		}
	}
	hosts, all, err := f.hosts()
	switch {
	case err != nil:
		return nil, err
	case all:
		return append(args, "--allow-net"), nil
	}
	if err := add("--allow-net", append(hosts, "127.0.0.1:"+strconv.Itoa(port))); err != nil {
		return nil, err
	}
	return args, nil
}

// hosts returns the words of the grant net as Deno has them; all says that there is no
// bound.
func (f flags) hosts() (hosts []string, all bool, _ error) {
	n := f.set.Net
	if n.None() {
		return nil, false, nil
	}
	if len(n.Deny) > 0 {
		return nil, false, f.cannot("the socket that it calls tools over is in the network, of which something is taken away", useOurs)
	}
	for _, word := range n.Allow {
		prefix, err := netip.ParsePrefix(word)
		switch {
		case word == grant.Any:
			return nil, true, nil
		case word == grant.Public:
			return nil, false, f.cannot("it does not tell public addresses from others", "name hosts, as in --allow-net=api.example.com, allow all with --allow-net=*, or "+useOurs)
		case err == nil && !prefix.IsSingleIP(), strings.Contains(word, "*"):
			return nil, false, f.cannot("it takes hosts and addresses, not "+word, "name each host, or "+useOurs)
		case err == nil:
			word = prefix.Addr().String()
		}
		hosts = append(hosts, word)
	}
	return hosts, false, nil
}

const (
	nodePermissions = 20 // the first version of Node that has them
	nodeNetwork     = 25 // the first whose permissions include the network, as a whole
)

// node returns its flags: those of its permission model, unless everything is granted.
func (f flags) node(program string) ([]string, error) {
	args := []string{"--no-warnings"}
	if f.whole() == nil {
		return args, nil
	}
	major, minor := f.rt.number()
	if major < nodePermissions {
		return nil, f.cannot("it has no permissions before version "+strconv.Itoa(nodePermissions), "allow everything with -A, or "+useOurs)
	}
	if !slices.Contains(f.set.Net.Allow, grant.Any) || len(f.set.Net.Deny) > 0 {
		return nil, f.cannot("it cannot keep a script from the network and still let it call tools", "allow all of it with --allow-net=*, take deno, or "+useOurs)
	}
	for _, g := range f.system() {
		if len(g.words.Deny) > 0 && !g.words.None() {
			return nil, f.cannot("it takes nothing away from what is allowed ("+g.name+")", "leave out --deny-"+g.name+", or "+useOurs)
		}
	}
	// The permissions were an experiment until 22.13 and 23.5.
	if major > 23 || major == 23 && minor >= 5 || major == 22 && minor >= 13 {
		args = append(args, "--permission")
	} else {
		args = append(args, "--experimental-permission")
	}
	if major >= nodeNetwork {
		args = append(args, "--allow-net")
	}
	for _, g := range []held{{grant.Read, f.set.Read}, {grant.Write, f.set.Write}} {
		if g.words.None() {
			if g.name == grant.Read {
				args = append(args, "--allow-fs-read="+program)
			}
			continue
		}
		paths, all := f.paths(g.words.Allow)
		if all {
			args = append(args, "--allow-fs-"+g.name+"=*")
			continue
		}
		if g.name == grant.Read {
			args = append(args, "--allow-fs-read="+program)
		}
		for _, p := range paths {
			if strings.ContainsAny(p, ",*") {
				return nil, f.cannot("it takes no name with a comma or a star, such as "+p, useOurs)
			}
			args = append(args, "--allow-fs-"+g.name+"="+p) // of a folder, what is in it as well
		}
	}
	switch {
	case f.set.Run.None():
	case slices.Contains(f.set.Run.Allow, grant.Any):
		args = append(args, "--allow-child-process")
	default:
		return nil, f.cannot("it starts any program or none", "allow all with --allow-run, or "+useOurs)
	}
	return args, nil
}
