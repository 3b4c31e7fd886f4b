// Package body reads the bodies of HTTP requests. Short ones are read as they come. Long ones
// share a room: however many clients send them at once, the bytes that they take have a bound
// together, and who finds no room waits for others to be done.
package body

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
)

// ErrNoRoom is for a body that has waited for others in vain.
var ErrNoRoom = errors.New("too many long requests are under way")

// Room is what all long bodies have together.
type Room struct {
	size, short int64
	patience    time.Duration
	bytes       *semaphore.Weighted
}

// NewRoom makes a room of size bytes. A body of at most short bytes needs none of it; a longer
// one waits so long as patience for room, and then once more for its bytes.
func NewRoom(size, short int64, patience time.Duration) *Room {
	return &Room{size: size, short: short, patience: patience, bytes: semaphore.NewWeighted(size)}
}

// Read reads the body of a request, which may have limit bytes. It waits for room until ctx is
// done. The caller calls done, which is never nil, when nothing of the body is in use any more.
// The error is ErrNoRoom, a *http.MaxBytesError, or why reading failed.
func (room *Room) Read(ctx context.Context, w http.ResponseWriter, r *http.Request, limit int64) (text []byte, done func(), err error) {
	done = func() {}
	if r.ContentLength > limit {
		return nil, done, &http.MaxBytesError{Limit: limit}
	}
	from := http.MaxBytesReader(w, r.Body, limit)
	text, err = io.ReadAll(io.LimitReader(from, room.short+1))
	if err != nil || int64(len(text)) <= room.short {
		return text, done, err
	}
	length := limit // of a body that does not say
	if r.ContentLength > 0 {
		length = r.ContentLength
	}
	taken := min(length, room.size)
	wait, cancel := context.WithTimeout(ctx, room.patience)
	defer cancel()
	if room.bytes.Acquire(wait, taken) != nil {
		return nil, done, ErrNoRoom
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(room.patience)) // what cannot have one is no connection
	all := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead))
	all.Write(text)
	if _, err := all.ReadFrom(from); err != nil {
		room.bytes.Release(taken)
		return nil, done, err
	}
	_ = control.SetReadDeadline(time.Time{})
	return all.Bytes(), func() { room.bytes.Release(taken) }, nil
}
