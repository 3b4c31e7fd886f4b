package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

const (
	// shownLines is how many lines of the log are shown if nobody says.
	shownLines = 20
	// lookAgain is how often a log that is followed is looked at.
	lookAgain = 250 * time.Millisecond
)

// daemonLogs prints the end of the daemon's log, and with --follow what is written from then
// on. It asks no daemon: the log of one that has ended is there too.
func (v *invocation) daemonLogs(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	most := shownLines
	if text := c.String("lines"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return fault.Usagef("--lines %s is no number of lines", text).Hintf("write a whole number, such as --lines 100")
		}
		most = n
	}
	follow := c.Bool("follow")
	if follow && v.json {
		return fault.Usagef("daemon logs --follow prints until it is interrupted, and --json is one document").
			Hintf("leave --json out: every line is a JSON document")
	}
	path, err := v.p.LogFile(OpenOptions{Config: v.config, Settings: v.settings})
	if err != nil {
		return err
	}
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.NotFoundf("no daemon of these configuration files has written a log").
			Hintf(`it would be %s; "mcpx daemon start" starts one`, path)
	case err != nil:
		return fault.Unavailablef("the daemon's log cannot be read: %w", err)
	}
	end := bytes.LastIndexByte(text, '\n') + 1 // what is behind it is being written
	lines := strings.Split(strings.TrimSuffix(string(text[:end]), "\n"), "\n")
	if end == 0 {
		lines = nil
	}
	lines = lines[max(0, len(lines)-most):]
	doc := struct {
		File  string   `json:"file"`
		Lines []string `json:"lines"`
	}{path, append([]string{}, lines...)}
	err = v.answer(doc, func() string {
		var p page
		for _, l := range lines {
			p.line("%s", l)
		}
		return p.String()
	})
	if err != nil || !follow {
		return err
	}
	v.stdout.flush()
	return v.followLog(c.Context, &followed{path: path, from: int64(end), begins: text[:min(len(text), logBegins)]})
}

// logBegins is how much of a log tells it from another one: the time of its first line.
const logBegins = 64

// followed is a log of which some was printed.
type followed struct {
	path   string
	from   int64  // where what was printed ends
	begins []byte // up to logBegins bytes
}

// followLog prints whole lines of a log from a place on, until ctx is done.
func (v *invocation) followLog(ctx context.Context, log *followed) error {
	pace := time.NewTicker(lookAgain)
	defer pace.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-pace.C:
		}
		text, err := log.more()
		if err != nil {
			return fault.Unavailablef("the daemon's log cannot be read: %w", err)
		}
		if len(text) == 0 {
			continue
		}
		if _, err := io.WriteString(v.stdout, clean(string(text))); err != nil {
			return err
		}
		v.stdout.flush()
	}
}

// more returns the whole lines that were written meanwhile. One that is shorter now, or begins
// otherwise, was put aside or begun anew, and one that is gone has no lines.
func (l *followed) more() ([]byte, error) {
	f, err := os.Open(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		l.from, l.begins = 0, nil
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	begins, err := io.ReadAll(io.NewSectionReader(f, 0, logBegins))
	if err != nil {
		return nil, err
	}
	if info.Size() < l.from || !bytes.HasPrefix(begins, l.begins) {
		l.from = 0
	}
	l.begins = begins
	text, err := io.ReadAll(io.NewSectionReader(f, l.from, info.Size()-l.from))
	if err != nil {
		return nil, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	l.from += int64(len(text))
	return text, nil
}
