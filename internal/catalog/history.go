package catalog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"mcpx/internal/schema"
	"mcpx/internal/store"
	"mcpx/mcp"
)

// Identity says which server an entry is of, whatever the command that starts it: the
// file that configures it, and the name that it has there. It is the key of a history,
// as a fingerprint is that of an entry.
func Identity(file, name string) string {
	sum := sha256.New()
	_, _ = fmt.Fprintf(sum, "%q %q", file, name)
	return hex.EncodeToString(sum.Sum(nil))
}

// Change is what became of one tool between two listings of its server.
type Change struct {
	When time.Time  `json:"when"` // it was found
	Tool string     `json:"tool"`
	Kind ChangeKind `json:"kind"`
	// Arguments and Result hold how the schemas of a tool that changed differ.
	Arguments []schema.Difference `json:"arguments,omitempty"`
	Result    []schema.Difference `json:"result,omitempty"`
	Reworded  bool                `json:"reworded,omitempty"` // its title, description or annotations changed
	// Was is the schema of the arguments until then, if it changed or its tool is gone.
	Was mcp.Raw `json:"was,omitempty"`
}

// ChangeKind says what became of a tool.
type ChangeKind string

// The kinds of changes.
const (
	ToolAdded   ChangeKind = "added"
	ToolRemoved ChangeKind = "removed"
	ToolChanged ChangeKind = "changed"
)

// History is what is known of the past of one server.
type History struct {
	Format      int       `json:"format"`
	Server      string    `json:"server"`
	Fingerprint string    `json:"fingerprint"` // of the entry that was noted last
	Since       time.Time `json:"since"`       // when the server was first noted
	Changes     []Change  `json:"changes"`     // the oldest first
	// Pins are the shapes of tools when they were first seen, or accepted.
	Pins map[string]string `json:"pins,omitempty"`
}

// Bounds of a history. Of more changes the oldest are forgotten.
const (
	maxChanges    = 500
	maxWas        = 64 << 10 // bytes of a schema
	maxHistory    = 64 << 20 // of the file
	maxOneListing = 200      // changes of one listing that are told apart
)

// Note compares a new entry of a server with the one that was noted before, keeps what
// changed, and returns it. It must be called before the entry is Put, which may replace
// the other. Two processes that note the same change at once keep it once.
func (c *Catalog) Note(identity string, e *Entry) ([]Change, error) {
	h, known := c.History(identity)
	if !known {
		h = &History{Since: e.Fetched}
	}
	var changes []Change
	if before, ok := c.Get(h.Fingerprint); known && ok {
		changes = compare(before, e)
	}
	pins, grown := pinned(h, e)
	if known && len(changes) == 0 && !grown && h.Fingerprint == e.Fingerprint {
		return nil, nil
	}
	next := &History{Format: Format, Server: e.Server, Fingerprint: e.Fingerprint, Since: h.Since, Pins: pins}
	next.Changes = append(append([]Change{}, h.Changes...), changes...)
	next.Changes = next.Changes[max(0, len(next.Changes)-maxChanges):]
	return changes, c.keepHistory(identity, next)
}

// History returns what is kept under an identity. A file that cannot be read counts as
// none.
func (c *Catalog) History(identity string) (*History, bool) {
	if path, onDisk := c.historyPath(identity); onDisk {
		if data, err := store.ReadFile(path, maxHistory); err == nil {
			h := &History{}
			if json.Unmarshal(data, h) == nil && h.Format == Format {
				return h, true
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h, ok := c.histories[identity]
	return h, ok
}

func (c *Catalog) historyPath(identity string) (string, bool) {
	path, ok := c.path(identity)
	return filepath.Join(filepath.Dir(path), "history", filepath.Base(path)), ok
}

// compare returns how the tools of a server changed, by name. Of several tools with one
// name the first counts.
func compare(before, after *Entry) []Change {
	var out []Change
	was, is := byName(before), byName(after)
	for _, name := range sortedNames(was, is) {
		old, now := was[name], is[name]
		c := Change{When: after.Fetched, Tool: name}
		switch {
		case old == nil:
			c.Kind = ToolAdded
		case now == nil:
			c.Kind, c.Was = ToolRemoved, bounded(old.InputSchema)
		default:
			if bytes.Equal(old.Raw, now.Raw) {
				continue
			}
			c.Kind = ToolChanged
			if c.Arguments = schema.Differences(old.InputSchema, now.InputSchema); c.Arguments != nil {
				c.Was = bounded(old.InputSchema)
			}
			c.Result = schema.Differences(old.OutputSchema, now.OutputSchema)
			c.Reworded = old.Title != now.Title || old.Description != now.Description || !schema.Same(old.Annotations, now.Annotations)
			if c.Arguments == nil && c.Result == nil && !c.Reworded {
				continue // members of the protocol that say nothing of a call
			}
		}
		if out = append(out, c); len(out) == maxOneListing {
			break
		}
	}
	return out
}

func byName(e *Entry) map[string]*mcp.Tool {
	out := make(map[string]*mcp.Tool, len(e.Tools))
	for _, t := range e.Tools {
		if out[t.Name] == nil {
			out[t.Name] = t
		}
	}
	return out
}

func sortedNames(of ...map[string]*mcp.Tool) []string {
	var names []string
	for _, m := range of {
		for name := range m {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func bounded(raw mcp.Raw) mcp.Raw {
	if len(raw) > maxWas {
		return nil
	}
	return raw
}
