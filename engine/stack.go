package engine

import (
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/file"

	"mcpx/internal/fault"
)

// stackFrame is one call, with positions and names as goja writes them.
type stackFrame struct {
	function string
	at       file.Position
}

// framesOf takes the frames of scripts out of a stack.
func framesOf(stack []goja.StackFrame) []stackFrame {
	frames := make([]stackFrame, 0, len(stack))
	for i := range stack {
		f := stackFrame{function: stack[i].FuncName(), at: stack[i].Position()}
		if f.at.Line == 0 || strings.HasPrefix(f.at.Filename, "mcpx:") {
			continue // native, or ours
		}
		if f.function == "<anonymous>" {
			f.function = ""
		}
		frames = append(frames, f)
	}
	return frames
}

// parseStack reads the frames of a stack property, up to a limit. Its text may be
// anything: only frames in files of the program are taken.
func (p *Program) parseStack(text string, limit int) []stackFrame {
	var frames []stackFrame
	for line := range strings.Lines(text) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "at ")
		if !ok {
			continue
		}
		if len(frames) >= limit {
			break
		}
		if f, ok := p.parseFrame(line); ok {
			frames = append(frames, f)
		}
	}
	return frames
}

// parseFrame reads FILE:LINE:COLUMN or FUNCTION (FILE:LINE:COLUMN), where goja adds a
// number in parentheses to the column.
func (p *Program) parseFrame(line string) (stackFrame, bool) {
	if at, ok := p.parseLocation(line); ok {
		return stackFrame{at: at}, true
	}
	function, location, ok := strings.Cut(line, " (")
	if !ok {
		return stackFrame{}, false
	}
	at, ok := p.parseLocation(strings.TrimSuffix(location, ")"))
	return stackFrame{function: function, at: at}, ok
}

func (p *Program) parseLocation(s string) (file.Position, bool) {
	if rest, ok := strings.CutSuffix(s, ")"); ok {
		if i := strings.LastIndexByte(rest, '('); i >= 0 {
			s = rest[:i]
		}
	}
	s, column, ok := cutNumber(s)
	if !ok {
		return file.Position{}, false
	}
	s, line, ok := cutNumber(s)
	if !ok {
		return file.Position{}, false
	}
	if _, known := p.names[s]; known {
		return file.Position{Filename: s, Line: line, Column: column}, true
	}
	for written, name := range p.names {
		if name == s && name != bundleName {
			return file.Position{Filename: written, Line: line, Column: column}, true
		}
	}
	return file.Position{}, false
}

// cutNumber splits ":NUMBER" off the end of s.
func cutNumber(s string) (before string, n int, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return "", 0, false
	}
	n, err := strconv.Atoi(s[i+1:])
	return s[:i], n, err == nil && n >= 0
}

// maxFrames bounds the frames of a report.
const maxFrames = 16

// place turns frames into those of a report and the position of the innermost.
func (rt *Runtime) place(frames []stackFrame) (at *fault.Position, out []fault.Frame) {
	for _, f := range frames {
		pos := rt.program.at(f.at)
		if pos == nil {
			continue
		}
		if at == nil {
			at = pos
		}
		out = append(out, fault.Frame{Function: rt.program.functionName(f.function), File: pos.File, Line: pos.Line, Column: pos.Column})
		if len(out) == maxFrames {
			break
		}
	}
	return at, out
}
