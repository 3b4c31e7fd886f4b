package run

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"mcpx/internal/fault"
	"mcpx/internal/grant"
)

// inputChunk is how much of standard input is read at a time.
const inputChunk = 64 << 10

// input is the caller's standard input. A read that is given up goes on, and what it
// brings is there for the next.
type input struct {
	r     io.Reader
	turn  chan struct{} // has a token: whoever takes it may use what follows
	piece chan piece    // of the read that is under way; nil without one
	rest  []byte        // was read and not asked for yet
	err   error         // why there is no more; io.EOF at the end
}

type piece struct {
	b   []byte
	err error
}

func newInput(r io.Reader) *input {
	in := &input{r: r, turn: make(chan struct{}, 1)}
	if r == nil {
		in.err = io.EOF
	}
	in.turn <- struct{}{}
	return in
}

// next returns at least one byte and at most most, or says why there is none.
func (in *input) next(ctx context.Context, most int) ([]byte, error) {
	select {
	case <-in.turn:
		defer func() { in.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	for len(in.rest) == 0 {
		if in.err != nil {
			return nil, in.err
		}
		if in.piece == nil {
			in.piece = make(chan piece, 1)
			go func(to chan<- piece) {
				b := make([]byte, inputChunk)
				n, err := in.r.Read(b)
				to <- piece{b[:n], err}
			}(in.piece)
		}
		select {
		case p := <-in.piece:
			in.piece, in.rest, in.err = nil, p.b, p.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	n := min(most, len(in.rest))
	b := in.rest[:n:n]
	in.rest = in.rest[n:]
	return b, nil
}

func unreadable(err error) error {
	return fault.Unavailablef("reading standard input: %w", err)
}

// input answers with all of standard input that is left, or with an artifact.
func (b *broker) input(ctx context.Context, head json.RawMessage) (_, all []byte, err error) {
	var in struct {
		Name string `json:"name"`
	}
	if err := decode(head, &in); err != nil {
		return nil, nil, err
	}
	if !b.set.Stdin {
		return nil, nil, grant.Denied(grant.Input, "")
	}
	if in.Name != "" {
		return nil, nil, fault.NotFoundf("no artifact %q came with this run", in.Name).
			Hintf("input() without a name is standard input")
	}
	for {
		chunk, err := b.in.next(ctx, inputChunk)
		switch {
		case errors.Is(err, io.EOF):
			return nil, all, nil
		case ctx.Err() != nil && err != nil:
			return nil, nil, err
		case err != nil:
			return nil, nil, unreadable(err)
		}
		if all = append(all, chunk...); int64(len(all)) > b.limit.MaxBody {
			return nil, nil, fault.Limitf("standard input has more than the %d bytes that input() may return", b.limit.MaxBody).
				Hintf("read it in pieces from process.stdin, or raise limits.result")
		}
	}
}

// stdin answers with the next piece of standard input.
func (b *broker) stdin(ctx context.Context, head json.RawMessage) (answer, chunk []byte, err error) {
	var in struct {
		Max float64 `json:"max"`
	}
	if err := decode(head, &in); err != nil {
		return nil, nil, err
	}
	if !b.set.Stdin {
		return nil, nil, grant.Denied(grant.Input, "")
	}
	chunk, err = b.in.next(ctx, int(max(1, min(in.Max, inputChunk))))
	switch {
	case errors.Is(err, io.EOF):
		return []byte(`{"end":true}`), nil, nil
	case ctx.Err() != nil && err != nil:
		return nil, nil, err
	case err != nil:
		return nil, nil, unreadable(err)
	}
	return []byte(`{}`), chunk, nil
}
