package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"mcpx/mcp"
)

const (
	// maxLine bounds one message. A longer one is answered with an error and skipped.
	maxLine = 64 << 20
	// readAhead is how much is read at once, if there is as much.
	readAhead = 64 << 10
)

// Serve serves one client, which writes messages to in and reads them from out, one
// to a line. It returns nil when in ends, ctx's cause when ctx is done, and the error
// when in or out fails; in each case after the calls in flight were cancelled and
// have ended. A call that has its answer all the same still sends it.
//
// If ctx ends first, in is closed if it can be; a goroutine that reads it may stay
// until the read returns.
func Serve(ctx context.Context, in io.Reader, out io.Writer, h Handler) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var write sync.Mutex // orders lines on out
	send := func(line [][]byte) error {
		write.Lock()
		defer write.Unlock()
		for _, part := range line {
			if _, err := out.Write(part); err != nil {
				stop(fmt.Errorf("writing to the client: %w", err))
				break
			}
		}
		return context.Cause(ctx)
	}
	l := newLot(ctx, h)
	c := &lineConn{send: send}
	c.conn = newConn(ctx, h, l, make(chan struct{}, maxListens), c.out)
	lines := make(chan line)
	over := make(chan struct{})
	go read(in, lines, over)

	for ctx.Err() == nil {
		select {
		case l := <-lines:
			switch {
			case l.err == nil:
				c.takeLine(l.text)
			case errors.Is(l.err, errTooLong):
				_ = c.out(response(nil, nil, mcp.Errorf(mcp.CodeParseError, "%v", l.err)))
			case errors.Is(l.err, io.EOF):
				stop(errGone)
			default:
				stop(fmt.Errorf("reading from the client: %w", l.err))
			}
		case <-ctx.Done():
		}
	}
	close(over)
	c.shut()
	l.close()
	cause := context.Cause(ctx)
	if errors.Is(cause, errGone) {
		return nil
	}
	if closer, ok := in.(io.Closer); ok {
		_ = closer.Close() // to wake the reader; why we stop is already known
	}
	return cause
}

type line struct {
	text []byte
	err  error
}

var errTooLong = fmt.Errorf("a message is longer than %d bytes", maxLine)

// read sends the lines of in until it ends or over is closed.
func read(in io.Reader, lines chan<- line, over <-chan struct{}) {
	r := bufio.NewReaderSize(in, readAhead)
	for {
		text, err := readLine(r, maxLine)
		if len(bytes.TrimSpace(text)) == 0 && err == nil {
			continue
		}
		select {
		case lines <- line{text, err}:
		case <-over:
			return
		}
		if err != nil && !errors.Is(err, errTooLong) {
			return
		}
	}
}

// readLine reads one line without its end. The last line need not have one. Of a line
// longer than limit nothing is kept.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var text mcp.Parts
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if text.Len()+len(part) > limit {
			tooLong, text = true, mcp.Parts{}
		}
		if !tooLong {
			text.Add(part)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, errTooLong
		case errors.Is(err, io.EOF) && text.Len() > 0:
			return text.Join(), nil // the end is found again at the next read
		case err != nil:
			return nil, err
		}
		return bytes.TrimRight(text.Join(), "\r\n"), nil
	}
}

// lineConn is a connection whose messages are lines.
type lineConn struct {
	*conn
	send func(line [][]byte) error // if it fails, the connection ends for it
}

func (c *lineConn) out(m *mcp.Message) error { return c.send(m.Line()) }

// takeLine serves what one line holds, and answers on the connection.
func (c *lineConn) takeLine(text []byte) {
	batch, others, err := mcp.SplitBatch(text)
	if err != nil {
		_ = c.out(noMessage(text))
		return
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		c.takeBatch(batch, others)
		return
	}
	c.begin(batch[0], c.out, func(answer *mcp.Message) {
		if answer != nil {
			_ = c.out(answer)
		}
	})
}

// takeBatch serves several messages and answers with one array, also to what is none.
func (c *lineConn) takeBatch(batch []*mcp.Message, others []mcp.Raw) {
	var mu sync.Mutex
	var answers [][]byte
	for _, o := range others {
		answers = append(answers, noMessage(o).Encode())
	}
	var pending sync.WaitGroup
	for _, m := range batch {
		pending.Add(1)
		c.begin(m, c.out, func(answer *mcp.Message) {
			if answer != nil {
				mu.Lock()
				answers = append(answers, answer.Encode())
				mu.Unlock()
			}
			pending.Done()
		})
	}
	c.calls.Go(func() {
		pending.Wait()
		if answers != nil {
			_ = c.send([][]byte{slices.Concat([]byte("["), bytes.Join(answers, []byte(",")), []byte("]\n"))})
		}
	})
}
