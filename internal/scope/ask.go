package scope

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"mcpx/internal/process"
)

// askTimeout bounds one question to git.
const askTimeout = 10 * time.Second

// ask asks git itself.
func (f *finder) ask() (Repository, error) {
	lines, err := f.git("rev-parse", "--path-format=absolute", "--git-common-dir", "--is-inside-work-tree")
	switch {
	case err != nil:
		return Repository{}, err
	case strings.HasPrefix(lines[0], "--path-format"):
		return Repository{}, errors.New("git is older than 2.31 and cannot be asked")
	case len(lines) != 2:
		return Repository{}, fmt.Errorf("git answered %q", lines)
	}
	r := Repository{CommonDir: physical(lines[0])}
	if lines[1] == "true" {
		top, err := f.git("rev-parse", "--path-format=absolute", "--show-toplevel")
		if err != nil {
			return Repository{}, err
		}
		r.Worktree = physical(top[0])
	}
	return r, nil
}

// git runs git and returns the lines of its answer, of which there is at least one.
func (f *finder) git(args ...string) ([]string, error) {
	path, err := process.LookPath("git", f.env("PATH"), f.cwd)
	if err != nil {
		return nil, errors.New("git is not installed")
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer out.Close()
	errs, theirErrs, err := os.Pipe()
	if err != nil {
		_ = theirs.Close()
		return nil, err
	}
	defer errs.Close()
	p, err := process.Start(process.Spec{Path: path, Args: args, Env: f.environ, Dir: f.cwd, Stdout: theirs, Stderr: theirErrs})
	_, _ = theirs.Close(), theirErrs.Close()
	if err != nil {
		return nil, err
	}
	defer p.End(0)
	until := time.Now().Add(askTimeout)
	_, _ = out.SetReadDeadline(until), errs.SetReadDeadline(until)
	said := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(io.LimitReader(errs, 1<<12))
		said <- strings.TrimSpace(string(text))
	}()
	text, err := io.ReadAll(io.LimitReader(out, 1<<20))
	why := <-said
	if err != nil {
		return nil, fmt.Errorf("git gave no answer: %w", err)
	}
	<-p.Done() // its output has ended
	if lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n"); p.State().Success() && lines[0] != "" {
		return lines, nil
	}
	return nil, fmt.Errorf("git says: %s", why)
}
