package api

import (
	"bytes"
	"encoding/base64"
	"sync"

	"mcpx/internal/fault"
)

// callers reads who asks from headers, and keeps those that were read last: a script makes
// many requests, all with the same header, which holds an environment.
type callers struct {
	mu    sync.Mutex
	known map[string]Caller
}

// Bounds of what is kept.
const (
	maxKnown      = 64
	maxKnownBytes = 64 << 10 // of one header
)

// read reads a header. What it returns is shared: nobody may change it.
func (k *callers) read(text string) (Caller, error) {
	k.mu.Lock()
	c, ok := k.known[text]
	k.mu.Unlock()
	if ok {
		return c, nil
	}
	c, err := readCaller(text)
	if err != nil || len(text) > maxKnownBytes {
		return c, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil || len(k.known) >= maxKnown {
		k.known = map[string]Caller{}
	}
	k.known[text] = c
	return c, nil
}

func readCaller(text string) (Caller, error) {
	bad := func(format string, args ...any) (Caller, error) {
		return Caller{}, fault.Usagef("the header "+callerHeader+" "+format, args...).Hintf("it is the caller as JSON, in base64; \"mcpx docs operations\" says how")
	}
	if base64.StdEncoding.DecodedLen(len(text)) > maxCaller {
		return bad("is longer than %d bytes", maxCaller)
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return bad("is not base64: %w", err)
	}
	var c Caller
	if err := strict(bytes.NewReader(raw), &c); err != nil {
		return bad("holds no caller: %s", err)
	}
	return c, nil
}
