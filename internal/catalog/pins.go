package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"time"

	"mcpx/internal/store"
	"mcpx/mcp"
)

// Shape is a digest of what a tool is to those who call it: its name, descriptions,
// schemas and annotations. The order of members and the space between them do not count.
func Shape(t *mcp.Tool) string {
	var shape [6]any
	shape[0], shape[1], shape[2] = t.Name, t.Title, t.Description
	for i, raw := range []mcp.Raw{t.InputSchema, t.OutputSchema, t.Annotations} {
		var v any
		if len(raw) > 0 && json.Unmarshal(raw, &v) != nil {
			v = string(raw)
		}
		shape[3+i] = v
	}
	text, err := json.Marshal(shape)
	if err != nil {
		text = t.Raw // a number that no float holds
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// maxPins bounds the tools of one server whose shapes are kept.
const maxPins = 10_000

// pinned returns the pins of a history and those that an entry adds: the shapes of tools
// that are seen for the first time.
func pinned(h *History, e *Entry) (pins map[string]string, grown bool) {
	pins = h.Pins
	for _, t := range e.Tools {
		if _, ok := pins[t.Name]; ok || len(pins) >= maxPins {
			continue
		}
		if !grown {
			pins, grown = maps.Clone(pins), true
			if pins == nil {
				pins = map[string]string{}
			}
		}
		pins[t.Name] = Shape(t)
	}
	return pins, grown
}

// pinsOf are the pins of one history, as a file held them.
type pinsOf struct {
	pins map[string]string
	file os.FileInfo
	at   time.Time // the file was looked at
}

// Pinned returns the shape of a tool when it was first seen, or accepted.
func (c *Catalog) Pinned(identity, tool string) (string, bool) {
	c.mu.Lock()
	known, ok := c.pins[identity]
	c.mu.Unlock()
	if !ok || known.file == nil || time.Since(known.at) >= glance {
		var there bool
		if known, there = c.look(identity, known); !there {
			return "", false
		}
	}
	pin, ok := known.pins[tool]
	return pin, ok
}

// look reads the pins of a history, unless they are those that are known already.
func (c *Catalog) look(identity string, known pinsOf) (pinsOf, bool) {
	var now os.FileInfo
	if path, onDisk := c.historyPath(identity); onDisk {
		now, _ = os.Stat(path)
	}
	if now == nil || !isSame(known.file, now) {
		h, there := c.History(identity)
		if !there {
			return known, false
		}
		known.pins = h.Pins
	}
	known.file, known.at = now, time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pins[identity] = known
	return known, true
}

// Accept pins a tool of an entry as it is now, or all of them if tool is empty, and
// returns the names of those that had changed.
func (c *Catalog) Accept(identity string, e *Entry, tool string) ([]string, error) {
	h, known := c.History(identity)
	if !known {
		h = &History{Format: Format, Server: e.Server, Fingerprint: e.Fingerprint, Since: e.Fetched}
	}
	next := *h
	next.Pins = maps.Clone(h.Pins)
	if next.Pins == nil {
		next.Pins = map[string]string{}
	}
	var changed []string
	for _, t := range e.Tools {
		if tool != "" && t.Name != tool || slices.Contains(changed, t.Name) {
			continue
		}
		now := Shape(t)
		if before, ok := next.Pins[t.Name]; ok && before != now {
			changed = append(changed, t.Name)
		}
		next.Pins[t.Name] = now
	}
	return changed, c.keepHistory(identity, &next)
}

// keepHistory keeps a history in memory and on disk.
func (c *Catalog) keepHistory(identity string, h *History) error {
	c.mu.Lock()
	c.histories[identity] = h
	c.mu.Unlock()
	path, onDisk := c.historyPath(identity)
	if !onDisk {
		return nil
	}
	data, err := json.Marshal(h)
	if err != nil {
		return err
	}
	err = store.WriteFile(path, data, 0o600)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.pins, identity) // they are read again at once
	return err
}
