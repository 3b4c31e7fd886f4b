package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
)

// keyboard is standard input where it is a terminal. Those who read it take turns: the
// questions that are asked there, and the script.
type keyboard struct {
	r    io.Reader
	drop func()        // drops what the terminal holds; nil if it cannot
	turn chan struct{} // of capacity 1: held by who reads

	// Of who holds the turn:
	typed []byte
	under chan typing // a read that somebody has left; nil if there is none
}

type typing struct {
	text []byte
	err  error
}

func newKeyboard(r io.Reader, drop func()) *keyboard {
	return &keyboard{r: r, drop: drop, turn: make(chan struct{}, 1)}
}

// forget drops the lines that were typed before now. Whoever shows a question that decides
// what may be done calls it first: what was typed for something else is no answer. The
// caller has the turn.
func (k *keyboard) forget() {
	if k.drop == nil {
		return
	}
	k.typed = nil
	k.drop()
	select {
	case <-k.under:
		k.under = nil
	default: // what is read from now on is typed from now on
	}
}

// ask shows a question once it is its turn, and returns the line that is typed. The error
// is io.EOF if nothing is typed any more. show reports whether there still is something to
// ask; if not, ask returns an empty line.
func (k *keyboard) ask(ctx context.Context, show func() bool) (string, error) {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	if !show() {
		return "", nil
	}
	for {
		if line, rest, ok := bytes.Cut(k.typed, []byte("\n")); ok {
			k.typed = rest
			return strings.TrimSuffix(string(line), "\r"), nil
		}
		if err := k.read(ctx); err != nil {
			line := string(k.typed)
			k.typed = nil
			if line != "" && ctx.Err() == nil {
				return line, nil
			}
			return "", err
		}
	}
}

// read adds what is typed next. A read from a terminal cannot be ended: one that is left
// goes on for whoever comes next.
func (k *keyboard) read(ctx context.Context) error {
	if k.under == nil {
		under := make(chan typing, 1)
		k.under = under
		go func() {
			p := make([]byte, 4096)
			n, err := k.r.Read(p)
			under <- typing{p[:n], err}
		}()
	}
	select {
	case got := <-k.under:
		k.under = nil
		k.typed = append(k.typed, got.text...)
		if len(got.text) > 0 {
			return nil
		}
		if got.err == nil {
			return io.ErrNoProgress
		}
		return got.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Read implements io.Reader, for a script.
func (k *keyboard) Read(p []byte) (int, error) {
	k.turn <- struct{}{}
	defer func() { <-k.turn }()
	if len(k.typed) == 0 {
		if err := k.read(context.Background()); err != nil {
			return 0, err
		}
	}
	n := copy(p, k.typed)
	k.typed = k.typed[n:]
	return n, nil
}
