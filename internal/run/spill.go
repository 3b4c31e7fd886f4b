package run

import (
	"bytes"
	"context"
	"fmt"
	"unicode/utf8"

	"mcpx/internal/api"
	"mcpx/internal/artifact"
	"mcpx/internal/fault"
)

const (
	// spillHead and spillTail are how much is shown of what was too long to be shown whole.
	spillHead = 16 << 10
	spillTail = 16 << 10
)

// spill takes what a script writes to one stream, for a document. What is longer than most
// goes to a file as it comes, so that memory holds no more than that, and becomes an
// artifact. Nobody writes to it once it is finished.
type spill struct {
	most int64 // 0 is no bound
	kept *kept // takes what is too long; nil where there is none
	name string

	held  bytes.Buffer // all of it, or its beginning
	tail  []byte       // its end, if it is too long
	size  int64
	over  bool
	draft *artifact.Draft
	err   error // why it cannot be kept whole
}

// Write never fails: what cannot be kept is counted, and shown in part.
func (s *spill) Write(p []byte) (int, error) {
	if s.size += int64(len(p)); !s.over && (s.most <= 0 || s.size <= s.most) {
		return s.held.Write(p)
	}
	if !s.over {
		s.over = true
		s.begin()
	}
	if s.err == nil {
		_, s.err = s.draft.Write(p)
	}
	if room := spillHead - s.held.Len(); room > 0 {
		s.held.Write(p[:min(room, len(p))])
	}
	if s.tail = append(s.tail, p[max(0, len(p)-spillTail):]...); len(s.tail) > 4*spillTail {
		s.tail = bytes.Clone(s.tail[len(s.tail)-spillTail:])
	}
	return len(p), nil
}

// begin moves what is held to a file, but for its beginning and its end.
func (s *spill) begin() {
	if s.kept == nil {
		s.err = fault.Unavailablef("there is nowhere to keep it")
	} else if s.draft, s.err = s.kept.store.New(s.kept.name(s.name)); s.err == nil {
		_, s.err = s.draft.Write(s.held.Bytes())
	}
	all := s.held.Bytes()
	s.tail = bytes.Clone(all[max(0, len(all)-spillTail):])
	s.held = *bytes.NewBuffer(bytes.Clone(all[:min(len(all), spillHead)]))
}

// finish returns what was written: as text, or as what is shown of it. It is called once.
func (s *spill) finish(ctx context.Context, stream string) (string, *api.Spilled) {
	if !s.over {
		return s.held.String(), nil
	}
	head := s.held.Bytes()
	tail := s.tail[max(0, len(s.tail)-int(min(spillTail, s.size-int64(len(head))))):] // what is not shown yet
	for cut := 0; cut < utf8.UTFMax && len(tail) > 0 && !utf8.RuneStart(tail[0]); cut++ {
		tail = tail[1:]
	}
	out := &api.Spilled{Stream: stream, Bytes: s.size, Head: string(head[:wholeCharacters(head)]), Tail: string(tail)}
	if s.err == nil {
		var a artifact.Artifact
		if a, s.err = s.draft.Keep(context.WithoutCancel(ctx), "text/plain; charset=utf-8"); s.err == nil {
			out.Artifact = s.kept.add(a).ID
		}
	}
	if s.err != nil {
		out.Error = fault.From(s.err)
	}
	s.discard()
	return "", out
}

// discard forgets what was written to a file.
func (s *spill) discard() {
	if s != nil && s.draft != nil {
		s.draft.Discard()
	}
}

// spillTo says where goes what is too long for a document.
func (o *output) spillTo(k *kept, most int64) {
	o.most = most
	for _, s := range o.text {
		if s != nil {
			s.kept, s.most = k, most
		}
	}
}

// given puts what was printed into out.
func (o *output) given(ctx context.Context, out *api.ExecOutput) {
	for i, to := range []*string{&out.Stdout, &out.Stderr} {
		if o.text[i] == nil {
			continue
		}
		var long *api.Spilled
		if *to, long = o.text[i].finish(ctx, streamNames[i]); long != nil {
			out.Spilled = append(out.Spilled, *long)
		}
	}
	if o.dropped > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the document leaves out %d log entries: all of them are in stderr", o.dropped))
	}
}

// streamNames are those of the files that hold what was written.
var streamNames = [2]string{"stdout", "stderr"}
