//go:build unix

package scope

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// yard is a folder in which git may do as it likes.
type yard struct {
	t   *testing.T
	dir string
	env []string
}

func newYard(t *testing.T) *yard {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed here")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &yard{t, dir, []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=n", "GIT_AUTHOR_EMAIL=e", "GIT_COMMITTER_NAME=n", "GIT_COMMITTER_EMAIL=e",
		"LC_ALL=C", "GIT_CEILING_DIRECTORIES=" + filepath.Dir(dir),
	}}
}

// at is a path in the yard.
func (y *yard) at(path string) string { return filepath.Join(y.dir, path) }

// git runs git in a folder of the yard.
func (y *yard) git(in string, args ...string) {
	y.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = y.at(in), y.env
	if out, err := cmd.CombinedOutput(); err != nil {
		y.t.Fatalf("git %v in %s: %v\n%s", args, in, err, out)
	}
}

func (y *yard) mkdir(path string) {
	y.t.Helper()
	if err := os.MkdirAll(y.at(path), 0o755); err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) write(path, text string) {
	y.t.Helper()
	y.mkdir(filepath.Dir(path))
	if err := os.WriteFile(y.at(path), []byte(text), 0o600); err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) link(to, at string) {
	y.t.Helper()
	if err := os.Symlink(to, y.at(at)); err != nil {
		y.t.Fatal(err)
	}
}

// repo makes a repository with one commit.
func (y *yard) repo(path string, flags ...string) {
	y.t.Helper()
	y.mkdir(path)
	y.git(path, append([]string{"init", "-q"}, flags...)...)
	y.git(path, "commit", "-q", "--allow-empty", "-m", "first")
}

// asked is what git itself says, and what it complains of.
func (y *yard) asked(in string, env []string) (Repository, string) {
	y.t.Helper()
	ask := func(args ...string) (string, string) {
		cmd := exec.Command("git", append([]string{"rev-parse", "--path-format=absolute"}, args...)...)
		cmd.Dir, cmd.Env = y.at(in), append(append([]string{}, y.env...), env...)
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			return "", errs.String()
		}
		return strings.TrimSuffix(string(out), "\n"), ""
	}
	common, complaint := ask("--git-common-dir")
	if complaint != "" {
		return Repository{}, complaint
	}
	r := Repository{CommonDir: physical(common)}
	if inside, _ := ask("--is-inside-work-tree"); inside == "true" {
		top, _ := ask("--show-toplevel")
		r.Worktree = physical(top)
	}
	return r, ""
}

// Every case is put to git as well; what is wanted is what it says.
func TestRepositoriesAreFoundAsGitFindsThem(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		make  func(y *yard)
		in    string
		env   func(y *yard) []string
		wants bool // git finds a repository
	}{
		{name: "none", make: func(y *yard) { y.mkdir("a/b") }, in: "a/b"},
		{name: "at the top", make: func(y *yard) { y.repo("r") }, in: "r", wants: true},
		{name: "below", make: func(y *yard) { y.repo("r"); y.mkdir("r/a/b/c") }, in: "r/a/b/c", wants: true},
		{name: "in .git", make: func(y *yard) { y.repo("r") }, in: "r/.git", wants: true},
		{name: "below .git", make: func(y *yard) { y.repo("r") }, in: "r/.git/refs/heads", wants: true},
		{name: "before the first commit", make: func(y *yard) { y.mkdir("r"); y.git("r", "init", "-q") }, in: "r", wants: true},
		{name: "through a link", make: func(y *yard) { y.repo("r"); y.mkdir("r/a"); y.link("r/a", "l") }, in: "l", wants: true},
		{name: "one in another", make: func(y *yard) { y.repo("r"); y.repo("r/inner"); y.mkdir("r/inner/x") }, in: "r/inner/x", wants: true},
		{name: "an empty .git inside is passed by", make: func(y *yard) { y.repo("r"); y.mkdir("r/a/.git") }, in: "r/a", wants: true},
		{name: "a .git without objects is passed by", make: func(y *yard) {
			y.repo("r")
			y.write("r/a/.git/HEAD", "ref: refs/heads/main\n")
			y.mkdir("r/a/.git/refs")
		}, in: "r/a", wants: true},
		{name: "a HEAD that is none", make: func(y *yard) {
			y.repo("r")
			y.write("r/a/.git/HEAD", "something\n")
			y.mkdir("r/a/.git/refs")
			y.mkdir("r/a/.git/objects")
		}, in: "r/a", wants: true},
		{name: "a HEAD that is a commit", make: func(y *yard) { y.repo("r"); y.git("r", "checkout", "-q", "--detach") }, in: "r", wants: true},
		{name: "a HEAD that is a link", make: func(y *yard) {
			y.repo("r", "-b", "main")
			if err := os.Remove(y.at("r/.git/HEAD")); err != nil {
				y.t.Fatal(err)
			}
			y.link("refs/heads/main", "r/.git/HEAD")
		}, in: "r", wants: true},
		{name: "a .git that is a link", make: func(y *yard) { y.repo("r"); y.mkdir("s"); y.link("../r/.git", "s/.git") }, in: "s", wants: true},
		{name: "bare", make: func(y *yard) { y.mkdir("b.git"); y.git("b.git", "init", "-q", "--bare") }, in: "b.git", wants: true},
		{name: "inside a bare one", make: func(y *yard) { y.mkdir("b.git"); y.git("b.git", "init", "-q", "--bare") }, in: "b.git/objects", wants: true},
		{name: "core.bare beside files", make: func(y *yard) { y.repo("r"); y.git("r", "config", "core.bare", "true") }, in: "r", wants: true},
		{name: "a worktree", make: func(y *yard) { y.repo("r"); y.git("r", "worktree", "add", "-q", "../w"); y.mkdir("w/x") }, in: "w/x", wants: true},
		{name: "a worktree of a bare one", make: func(y *yard) {
			y.repo("r")
			y.git(".", "clone", "-q", "--bare", "r", "b.git")
			y.git("b.git", "worktree", "add", "-q", "../w")
		}, in: "w", wants: true},
		{name: "a worktree with relative paths", make: func(y *yard) {
			y.repo("r")
			y.git("r", "worktree", "add", "-q", "../w")
			y.write("w/.git", "gitdir: ../r/.git/worktrees/w\n")
		}, in: "w", wants: true},
		{name: "a worktree inside the repository", make: func(y *yard) { y.repo("r"); y.git("r", "worktree", "add", "-q", "trees/w") }, in: "r/trees/w", wants: true},
		{name: "a worktree that was pruned", make: func(y *yard) {
			y.repo("r")
			y.git("r", "worktree", "add", "-q", "../w")
			if err := os.RemoveAll(y.at("r/.git/worktrees/w")); err != nil {
				y.t.Fatal(err)
			}
		}, in: "w"},
		{name: "settings for each worktree", make: func(y *yard) {
			y.repo("r")
			y.git("r", "config", "extensions.worktreeConfig", "true")
			y.git("r", "worktree", "add", "-q", "../w")
			y.mkdir("elsewhere")
			y.git("w", "config", "--worktree", "core.worktree", y.at("elsewhere"))
		}, in: "w", wants: true},
		{name: "bare with settings for each worktree", make: func(y *yard) {
			y.repo("r")
			y.git(".", "clone", "-q", "--bare", "r", "b.git")
			y.git("b.git", "config", "extensions.worktreeConfig", "true")
			y.git("b.git", "worktree", "add", "-q", "../w")
		}, in: "w", wants: true},
		{name: "a submodule", make: func(y *yard) {
			y.repo("lib")
			y.repo("r")
			y.git("r", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../lib", "deps/lib")
			y.mkdir("r/deps/lib/x")
		}, in: "r/deps/lib/x", wants: true},
		{name: "a submodule that is not there yet", make: func(y *yard) { y.repo("r"); y.mkdir("r/deps/lib") }, in: "r/deps/lib", wants: true},
		{name: "a repository kept elsewhere", make: func(y *yard) {
			y.mkdir("s")
			y.git("s", "init", "-q", "--separate-git-dir", "../kept")
		}, in: "s", wants: true},
		{name: "core.worktree", make: func(y *yard) { y.repo("r"); y.mkdir("files"); y.git("r", "config", "core.worktree", "../../files") }, in: "r", wants: true},
		{name: "core.worktree above", make: func(y *yard) { y.repo("p/r"); y.git("p/r", "config", "core.worktree", y.at("p")) }, in: "p/r", wants: true},
		{name: "core.worktree and core.bare", make: func(y *yard) {
			y.repo("r")
			y.git("r", "config", "core.worktree", "..")
			y.git("r", "config", "core.bare", "true")
		}, in: "r", wants: true},
		{name: "a file .git that is none", make: func(y *yard) { y.repo("r"); y.write("r/a/.git", "hello\n") }, in: "r/a"},
		{name: "a file .git that leads nowhere", make: func(y *yard) { y.repo("r"); y.write("r/a/.git", "gitdir: ../../gone\n") }, in: "r/a"},
		{name: "a file .git that ends with CRLF", make: func(y *yard) { y.repo("r"); y.write("s/.git", "gitdir: ../r/.git\r\n") }, in: "s", wants: true},
		{name: "the 256 bits", make: func(y *yard) { y.repo("r", "--object-format=sha256") }, in: "r", wants: true},
		{name: "an extension of format 1 in format 0", make: func(y *yard) {
			y.repo("r")
			y.git("r", "config", "extensions.objectFormat", "sha1")
		}, in: "r"},
		{name: "an unknown extension", make: func(y *yard) {
			y.repo("r")
			y.git("r", "config", "core.repositoryFormatVersion", "1")
			y.git("r", "config", "extensions.shiny", "true")
		}, in: "r"},
		{name: "an unknown extension in format 0", make: func(y *yard) { y.repo("r"); y.git("r", "config", "extensions.shiny", "true") }, in: "r", wants: true},
		{name: "an unknown format", make: func(y *yard) { y.repo("r"); y.git("r", "config", "core.repositoryFormatVersion", "7") }, in: "r"},
		{name: "settings that cannot be read", make: func(y *yard) { y.repo("r"); y.write("r/.git/config", "[core\nbare = no") }, in: "r"},
		{name: "settings as nobody writes them", make: func(y *yard) {
			y.repo("r")
			y.write("r/.git/config", "; x\n[core]repositoryformatversion=0\n[CORE] Bare = no # c\n\t[branch \"a\\\"]b\"] bare = true\n[core]\n worktree = \"../../fi\"\\\nles ; x\n[a.b]\nbare\n")
			y.mkdir("files/x")
		}, in: "r", wants: true},
		{name: "core.bare without a value", make: func(y *yard) {
			y.repo("r")
			y.write("r/.git/config", "[core]\n\trepositoryformatversion = 0\n\tbare\n")
		}, in: "r", wants: true},
		{name: "settings without a format", make: func(y *yard) { y.repo("r"); y.write("r/.git/config", "[core]\n\tbare\n\tworktree = ..\n") }, in: "r", wants: true},
		{name: "GIT_DIR", make: func(y *yard) { y.repo("r"); y.mkdir("x") }, in: "x", env: func(y *yard) []string { return []string{"GIT_DIR=" + y.at("r/.git")} }, wants: true},
		{name: "GIT_DIR that is relative", make: func(y *yard) { y.repo("r"); y.mkdir("x") }, in: "x", env: func(*yard) []string { return []string{"GIT_DIR=../r/.git"} }, wants: true},
		{name: "GIT_DIR that is a file", make: func(y *yard) { y.repo("r"); y.write("x/.git", "gitdir: ../r/.git\n") }, in: "x", env: func(*yard) []string { return []string{"GIT_DIR=.git"} }, wants: true},
		{name: "GIT_DIR that is nowhere", make: func(y *yard) { y.repo("r") }, in: "r", env: func(*yard) []string { return []string{"GIT_DIR=/nowhere"} }},
		{name: "GIT_DIR and GIT_WORK_TREE", make: func(y *yard) { y.repo("r"); y.mkdir("x/y") }, in: "x/y", env: func(y *yard) []string {
			return []string{"GIT_DIR=" + y.at("r/.git"), "GIT_WORK_TREE=" + y.at("x")}
		}, wants: true},
		{name: "GIT_DIR of a worktree", make: func(y *yard) { y.repo("r"); y.git("r", "worktree", "add", "-q", "../w") }, in: "r", env: func(y *yard) []string {
			return []string{"GIT_DIR=" + y.at("r/.git/worktrees/w")}
		}, wants: true},
		{name: "GIT_DIR without a worktree", make: func(y *yard) { y.repo("r") }, in: "r", env: func(*yard) []string {
			return []string{"GIT_DIR=.git", "GIT_IMPLICIT_WORK_TREE=0"}
		}, wants: true},
		{name: "GIT_WORK_TREE alone", make: func(y *yard) { y.repo("p/r") }, in: "p/r", env: func(y *yard) []string { return []string{"GIT_WORK_TREE=" + y.at("p")} }, wants: true},
		{name: "GIT_COMMON_DIR", make: func(y *yard) { y.repo("r"); y.repo("s") }, in: "r", env: func(y *yard) []string { return []string{"GIT_COMMON_DIR=" + y.at("s/.git")} }, wants: true},
		{name: "GIT_OBJECT_DIRECTORY that is nowhere", make: func(y *yard) { y.repo("r") }, in: "r", env: func(*yard) []string { return []string{"GIT_OBJECT_DIRECTORY=/nowhere"} }},
		{name: "a ceiling between", make: func(y *yard) { y.repo("r"); y.mkdir("r/a/b") }, in: "r/a/b", env: func(y *yard) []string { return []string{"GIT_CEILING_DIRECTORIES=" + y.at("r/a")} }},
		{name: "a ceiling at the top", make: func(y *yard) { y.repo("r"); y.mkdir("r/a/b") }, in: "r/a/b", env: func(y *yard) []string { return []string{"GIT_CEILING_DIRECTORIES=" + y.at("r")} }},
		{name: "a ceiling above the top", make: func(y *yard) { y.repo("r"); y.mkdir("r/a/b") }, in: "r/a/b", env: func(y *yard) []string { return []string{"GIT_CEILING_DIRECTORIES=" + y.dir} }, wants: true},
		{name: "a ceiling where one stands", make: func(y *yard) { y.repo("r"); y.mkdir("r/a") }, in: "r/a", env: func(y *yard) []string { return []string{"GIT_CEILING_DIRECTORIES=" + y.at("r/a")} }, wants: true},
		{name: "a ceiling through a link", make: func(y *yard) { y.repo("r"); y.mkdir("r/a/b"); y.link("r/a", "l") }, in: "r/a/b", env: func(y *yard) []string { return []string{"GIT_CEILING_DIRECTORIES=" + y.at("l")} }},
		{name: "a ceiling that is not followed", make: func(y *yard) { y.repo("r"); y.mkdir("r/a/b"); y.link("r/a", "l") }, in: "r/a/b", env: func(y *yard) []string { return []string{"GIT_CEILING_DIRECTORIES=:" + y.at("l")} }, wants: true},
		{name: "several ceilings", make: func(y *yard) { y.repo("r"); y.mkdir("r/a/b/c") }, in: "r/a/b/c", env: func(y *yard) []string {
			return []string{"GIT_CEILING_DIRECTORIES=" + y.dir + ":relative:" + y.at("r/a/") + "/:/elsewhere"}
		}},
		{name: "across file systems, in a word that is none", make: func(y *yard) { y.repo("r") }, in: "r", env: func(*yard) []string { return []string{"GIT_DISCOVERY_ACROSS_FILESYSTEM=perhaps"} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			tt.make(y)
			var env []string
			if tt.env != nil {
				env = tt.env(y)
			}
			want, complaint := y.asked(tt.in, env)
			if (complaint == "") != tt.wants {
				t.Fatalf("git finds %+v, complaint %q; the case expects otherwise", want, complaint)
			}
			got, err := Find(y.at(tt.in), append(append([]string{}, y.env...), env...))
			if got != want || (err == nil) != tt.wants {
				t.Errorf("Find = %+v, %v\n git = %+v %s", got, err, want, complaint)
			}
		})
	}
}

// A repository of a format that is not known here is git's to explain.
func TestUnknownFormatsAreAskedOfGit(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.repo("r")
	y.mkdir("r/a")
	f := finder{cwd: y.at("r/a"), environ: y.env}
	want, _ := y.asked("r/a", nil)
	if got, err := f.ask(); err != nil || got != want {
		t.Errorf("ask = %+v, %v, want %+v", got, err, want)
	}
	y.mkdir("b.git")
	y.git("b.git", "init", "-q", "--bare")
	f.cwd = y.at("b.git")
	if got, err := f.ask(); err != nil || got != (Repository{CommonDir: y.at("b.git")}) {
		t.Errorf("ask in a bare one = %+v, %v", got, err)
	}
	tests := []struct{ name, script, want string }{
		{"before 2.31", `echo --path-format=absolute; echo .git; echo true`, "older than 2.31"},
		{"with a complaint", `echo "fatal: no" >&2; exit 128`, "git says: fatal: no"},
		{"with something else", `echo a; echo b; echo c`, "git answered"},
	}
	for _, tt := range tests {
		y.mkdir("bin")
		// Another process writes it: a fork of this one could hold it open, and it could not be run.
		cmd := exec.Command("sh", "-c", `printf '#!/bin/sh\n%s\n' "$1" > bin/git && chmod +x bin/git`, "sh", tt.script)
		cmd.Dir = y.dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		f := finder{cwd: y.dir, environ: []string{"PATH=" + y.at("bin") + ":" + os.Getenv("PATH")}}
		if _, err := f.ask(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: ask = %v, want %q", tt.name, err, tt.want)
		}
	}
	f.environ = []string{"PATH=/nowhere"}
	if _, err := f.ask(); err == nil || !strings.Contains(err.Error(), "git is not installed") {
		t.Errorf("without git: %v", err)
	}
}

// Bind mounts need rights that tests seldom have; /proc and /sys are mount points anywhere.
func TestSearchEndsAtAMountPoint(t *testing.T) {
	t.Parallel()
	if deviceOf("/proc") == 0 || deviceOf("/proc") == deviceOf("/") {
		t.Skip("there is no /proc that is mounted here")
	}
	f := finder{cwd: "/proc/sys/kernel"}
	_, err := f.find()
	if err == nil || !strings.Contains(err.Error(), "up to the mount point /proc") {
		t.Errorf("find = %v, want the mount point", err)
	}
	f.environ = []string{"GIT_DISCOVERY_ACROSS_FILESYSTEM=1"}
	if _, err := f.find(); err == nil || strings.Contains(err.Error(), "mount point") {
		t.Errorf("across file systems: %v", err)
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add("[core]\n\tbare = true # x\n[a \"b\"] c = \"d\\\"\" ; e\n")
	f.Add("[a]\nb = c \\\n d\n")
	f.Fuzz(func(t *testing.T, text string) {
		parseConfig(text, func(section, key, value string, bare bool) bool {
			if section == "" || key == "" {
				t.Errorf("a variable without a name in %q", text)
			}
			return true
		})
	})
}
