package client

import (
	"bytes"

	"mcpx/internal/jsontext"
	"mcpx/mcp"
)

// maxSpread bounds a message that is spread over lines.
const maxSpread = 4 << 20

// spread puts messages together that a server prints over several lines, indented for
// people. The protocol wants one message a line, and what comes in that way always counts.
type spread struct {
	lines [][]byte // the beginning of what may become a message
	size  int
	depth int // how many brackets are open behind them
}

// take returns the messages that end with a line, and the lines that turn out to be none.
func (s *spread) take(line []byte) (messages []*mcp.Message, noise [][]byte) {
	messages, others := mcp.Hear(line)
	if messages != nil {
		noise = s.drop()
		for _, o := range others {
			noise = append(noise, o)
		}
		return messages, noise
	}
	text := bytes.TrimSpace(line)
	if len(s.lines) == 0 && !bytes.HasPrefix(text, []byte("{")) {
		return nil, [][]byte{line}
	}
	depth, ok := nesting(text, s.depth)
	if !ok || s.size+len(line) > maxSpread {
		return nil, append(s.drop(), line)
	}
	s.lines, s.size, s.depth = append(s.lines, line), s.size+len(line), depth
	if depth > 0 {
		return nil, nil
	}
	whole := bytes.Join(s.lines, []byte("\n"))
	noise = s.drop()
	if m, err := mcp.Split(whole); err == nil {
		return []*mcp.Message{m}, nil
	}
	return nil, noise
}

// drop gives up what has come, and returns it.
func (s *spread) drop() [][]byte {
	lines := s.lines
	*s = spread{}
	return lines
}

// nesting is how many brackets are open behind a line of JSON, if depth are before it and
// it may be one: it begins as something of JSON does, its strings end in it, and so does
// everything if the last bracket is closed.
func nesting(line []byte, depth int) (int, bool) {
	if len(line) == 0 {
		return depth, true
	}
	if bytes.IndexByte([]byte(`{}[]"-0123456789tfn`), line[0]) < 0 {
		return 0, false
	}
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			end := jsontext.String(line, i)
			if line[end-1] != '"' || end == i+1 {
				return 0, false
			}
			i = end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth < 0 || depth == 0 && i < len(line)-1 {
				return 0, false
			}
		}
	}
	return depth, true
}
