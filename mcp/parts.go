package mcp

import "slices"

const (
	// onePart is how long bytes may be that come at once.
	onePart = 64 << 10
	// longestPart is how much memory is taken for a part of which nothing has come yet.
	longestPart = 4 << 20
)

// Parts are bytes that come one after the other. The longer they have become the longer is
// the memory for those that follow, and they are joined once, in the end: nothing is copied
// again each time that there is too little. The zero Parts are empty.
type Parts struct {
	parts [][]byte
	n     int
}

// Add appends what has come.
func (p *Parts) Add(b []byte) {
	if last := len(p.parts) - 1; last >= 0 {
		part := p.parts[last]
		n := min(len(b), cap(part)-len(part))
		p.parts[last] = append(part, b[:n]...)
		p.n += n
		b = b[n:]
	}
	if len(b) == 0 {
		return
	}
	size := len(b)
	if p.n > 0 {
		size = max(size, min(max(p.n, onePart), longestPart))
	}
	p.parts = append(p.parts, append(make([]byte, 0, size), b...))
	p.n += len(b)
}

// Len returns how many bytes have come.
func (p *Parts) Len() int { return p.n }

// All returns what has come, in pieces.
func (p *Parts) All() [][]byte { return p.parts }

// Join returns what has come in one piece.
func (p *Parts) Join() []byte {
	if len(p.parts) == 1 {
		return p.parts[0]
	}
	return slices.Concat(p.parts...)
}
