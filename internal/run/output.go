package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"

	"mcpx/internal/api"
	"mcpx/internal/fault"
	"mcpx/internal/frame"
	"mcpx/internal/worker"
)

// errClosed is why a run ends whose standard output nobody reads any more.
var errClosed = errors.New("standard output was closed")

// output writes what a script prints, in the order in which it came, on a goroutine of
// its own: how fast the caller takes it is no matter of the reader.
type output struct {
	queue          chan item // has room for all that may be unwritten
	stdout, stderr io.Writer
	text           [2]*spill // of a stream that the caller did not give
	printed        atomic.Bool
	progress       func(api.Progress) // nil if nobody watches

	speaking atomic.Int32                                           // emits and logs in the queue
	emits    []json.RawMessage                                      // of a caller without standard output
	room     int64                                                  // bytes that emits may still have
	logs     []api.Log                                              // of a caller without standard error
	logging  int64                                                  // bytes of them
	most     int64                                                  // that they may have; 0 is no bound
	dropped  int                                                    // how many had no room
	media    func(context.Context, json.RawMessage) json.RawMessage // what becomes of emits; nil leaves them
	tell     *telling                                               // of what comes
	lines    *lines                                                 // which take what is printed for logs; nil if it is output
}

// item is a piece of output.
type item struct {
	id       uint32
	stream   frame.Type // Stdout or Stderr
	text     []byte
	err      error // why there is no text
	emit     bool  // text is a value and a newline
	log      *said // what is logged, if it is that
	waits    bool  // the worker waits for the answer, and sends no other such
	progress *api.Progress
}

// said is what a script logs: text is within that of its item.
type said struct {
	level string
	text  []byte
}

func newOutput(streams api.Streams, maxBody int64) *output {
	o := &output{
		queue:    make(chan item, worker.Output.Room(0)),
		stdout:   streams.Stdout,
		stderr:   streams.Stderr,
		progress: streams.Progress,
		room:     maxBody,
	}
	for i, w := range []*io.Writer{&o.stdout, &o.stderr} {
		if *w == nil {
			o.text[i] = &spill{name: streamNames[i] + ".txt"}
			*w = o.text[i]
		}
	}
	return o
}

// put takes an item, which must have been admitted, so that there is room.
func (o *output) put(i item) { o.queue <- i }

// close says that no more will come. What came is written.
func (o *output) close() { close(o.queue) }

// serve writes until close. When standard output fails, the run has no purpose any
// more; standard error may fail without harm.
func (o *output) serve(ctx context.Context, b *broker, stop context.CancelCauseFunc) {
	deaf := map[frame.Type]bool{}
	for i := range o.queue {
		switch {
		case i.err != nil:
		case i.progress != nil:
			o.tell.progress(*i.progress)
			if o.progress != nil {
				o.progress(*i.progress)
			}
		case o.lines != nil && i.log == nil && !i.emit:
			o.lines.add(i.stream, i.text, o.logged)
		case i.emit && o.text[0] != nil:
			i.text = o.linked(ctx, i.text)
			o.told(i)
			i.err = o.keep(i.text)
		case !deaf[i.stream] && len(i.text) > 0:
			w := o.stderr
			if i.stream == frame.Stdout {
				w = o.stdout
				o.printed.Store(true)
			}
			if i.emit {
				i.text = o.linked(ctx, i.text)
			}
			o.told(i)
			if _, err := w.Write(i.text); err != nil {
				deaf[i.stream] = true
				if i.stream == frame.Stdout {
					stop(unwritable(err))
				}
			}
		}
		if i.waits {
			o.speaking.Add(-1)
		}
		b.reply(i.id, worker.Output, nil, nil, i.err)
	}
	if o.lines != nil {
		o.lines.end(o.logged)
	}
}

// linked is an emitted line with links in the place of media.
func (o *output) linked(ctx context.Context, line []byte) []byte {
	if o.media == nil {
		return line
	}
	return append(bytes.Clone(o.media(ctx, bytes.TrimSuffix(line, []byte("\n")))), '\n')
}

// told tells of a piece of output, and keeps it if it is a log.
func (o *output) told(i item) {
	switch {
	case i.emit:
		o.tell.emit(i.text)
	case i.log != nil:
		o.note(i.log.level, i.log.text)
	default:
		o.tell.text(i.stream, i.text)
	}
}

// note tells of a log and keeps it. What nobody wants is not copied: it may be long.
func (o *output) note(level string, text []byte) {
	keeps := o.text[1] != nil
	if keeps {
		if o.logging += int64(len(text)); o.most > 0 && o.logging > o.most {
			o.dropped++
			keeps = false
		}
	}
	if !keeps && !o.tell.listens() {
		return
	}
	l := api.Log{Level: level, Text: string(text)}
	o.tell.log(l)
	if keeps {
		o.logs = append(o.logs, l)
	}
}

// logged is a line that was printed and counts as a log.
func (o *output) logged(l api.Log) {
	o.note(l.Level, []byte(l.Text))
	text := l.Text + "\n"
	if l.Level != "info" {
		text = l.Level + ": " + text
	}
	_, _ = io.WriteString(o.stderr, text) // standard error may fail without harm
}

// keep takes an emitted value for the document of the run.
func (o *output) keep(line []byte) error {
	if o.room -= int64(len(line)); o.room < 0 {
		return fault.Limitf("the run has emitted more than it may give out at once").
			Hintf("emit less, raise limits.result, or run without --json, which prints each value when it comes")
	}
	o.emits = append(o.emits, bytes.TrimSuffix(line, []byte("\n")))
	return nil
}

func unwritable(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) {
		return errClosed
	}
	return fault.Unavailablef("writing standard output: %w", err)
}

// item makes a piece of output of a request. A worker waits for the answer to an emit or a
// log, so that a second one is not an honest one's.
func (o *output) item(id uint32, c worker.Call, body []byte) (i item, err error) {
	if c.Op == "progress" {
		return progressItem(id, c.Head), nil
	}
	if o.speaking.Add(1) > 1 {
		return item{}, fmt.Errorf("%w: two emits or logs at a time", errHostile)
	}
	if c.Op == "emit" {
		i = emitItem(id, body)
	} else {
		i, err = logItem(id, c.Head, body)
	}
	i.waits = true
	return i, err
}

// emitItem makes a line of standard output of a value.
func emitItem(id uint32, body []byte) item {
	i := item{id: id, stream: frame.Stdout, emit: true}
	var line bytes.Buffer
	if err := json.Compact(&line, body); err != nil {
		i.err = fault.Internalf("a value that is not JSON: %w", err)
		return i
	}
	line.WriteByte('\n')
	i.text = line.Bytes()
	return i
}

func progressItem(id uint32, head json.RawMessage) item {
	i := item{id: id, progress: &api.Progress{}}
	if err := json.Unmarshal(head, i.progress); err != nil {
		return item{id: id, err: fault.Internalf("reading a request of the script: %w", err)}
	}
	return i
}

// logItem makes a line of standard error of what a script logs. Text of level info
// stands as it is; any other level stands before it, as in "warn: text".
func logItem(id uint32, head json.RawMessage, body []byte) (item, error) {
	var l worker.Log
	if err := json.Unmarshal(head, &l); err != nil {
		return item{id: id, stream: frame.Stderr, err: fault.Internalf("reading a request of the script: %w", err)}, nil
	}
	if len(l.Level) > len("error") {
		return item{}, fmt.Errorf("%w: a level of %d bytes", errHostile, len(l.Level))
	}
	before := ""
	if l.Level != "info" {
		before = l.Level + ": "
	}
	line := make([]byte, 0, len(before)+len(body)+1)
	line = append(append(append(line, before...), body...), '\n')
	return item{id: id, stream: frame.Stderr, text: line, log: &said{l.Level, line[len(before) : len(line)-1]}}, nil
}
