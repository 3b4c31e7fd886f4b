package server

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// shortBody is how long the body of a request may be that needs no room.
	shortBody = 256 << 10
	// maxBodies is how many bytes all longer ones have that are being read or served.
	maxBodies = 4 * maxBody
)

// errNoRoom is for a body that has waited for others to be served.
var errNoRoom = errors.New("too many long requests are being served")

// body reads the body of a request. A long one takes room, and waits until there is some;
// let gives it back, and is called when nothing of the body is in use any more.
func (e *exchange) body() (text []byte, let func(), err error) {
	let = func() {}
	if e.r.ContentLength > maxBody {
		return nil, let, &http.MaxBytesError{Limit: maxBody}
	}
	r := http.MaxBytesReader(e.w, e.r.Body, maxBody)
	text, err = io.ReadAll(io.LimitReader(r, shortBody+1))
	if err != nil || len(text) <= shortBody {
		return text, let, err
	}
	size := int64(maxBody)
	if e.r.ContentLength > 0 {
		size = e.r.ContentLength
	}
	patience, cancel := context.WithTimeout(e.h.ctx, e.h.bodyTimeout)
	defer cancel()
	if e.h.bodies.Acquire(patience, size) != nil {
		return nil, let, errNoRoom
	}
	_ = e.control.SetReadDeadline(time.Now().Add(e.h.bodyTimeout))
	b := bytes.NewBuffer(make([]byte, 0, max(e.r.ContentLength, 0)+bytes.MinRead))
	b.Write(text)
	if _, err = b.ReadFrom(r); err != nil {
		e.h.bodies.Release(size)
		return nil, let, err
	}
	return b.Bytes(), func() { e.h.bodies.Release(size) }, nil
}
