// Package catalog remembers the tools of each server between runs, so that a script
// pays only for the servers it calls, finds tools by words, fits an overview of them
// into a number of tokens, and keeps what changed in them (History).
//
// It neither asks servers nor decides which tools may be seen: entries are put in
// and looked up by the fingerprint of a server's definition.
package catalog

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"mcpx/internal/store"
	"mcpx/mcp"
)

// Format is the version of the entries that this program writes. Entries of another
// version are not understood, and the server is asked again.
const Format = 1

// maxEntry bounds the file of one entry.
const maxEntry = 256 << 20

// Entry is what one server said about itself. An entry that came from a Catalog is
// shared and must not be changed.
type Entry struct {
	Format       int         `json:"format"`
	Fingerprint  string      `json:"fingerprint"`      // of the definition that the server was started from
	Server       string      `json:"server,omitempty"` // the name it had then
	Era          mcp.Era     `json:"era,omitempty"`    // in which it was spoken to
	Tools        []*mcp.Tool `json:"tools"`            // in the server's order, as it sent them
	Instructions string      `json:"instructions,omitempty"`
	ServerInfo   mcp.Raw     `json:"serverInfo,omitempty"`
	Fetched      time.Time   `json:"fetched"`
	Warnings     []string    `json:"warnings,omitempty"`
}

// Names returns the names of the tools in the server's order.
func (e *Entry) Names() []string {
	names := make([]string, len(e.Tools))
	for i, t := range e.Tools {
		names[i] = t.Name
	}
	return names
}

// Tool returns the tool with this name, or nil. Of several the first one counts.
func (e *Entry) Tool(name string) *mcp.Tool {
	i := slices.IndexFunc(e.Tools, func(t *mcp.Tool) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return e.Tools[i]
}

// Catalog holds entries in memory and, if it has a directory, on disk. Several
// processes may share the directory. It is safe for concurrent use.
type Catalog struct {
	dir string

	mu        sync.Mutex // guards what follows
	cached    map[string]cached
	histories map[string]*History // those that this process has noted
	pins      map[string]pinsOf   // by identity
}

// cached is an entry with the state of the file that it is known to agree with; nil
// if it was put and not read yet.
type cached struct {
	entry *Entry
	file  os.FileInfo
	at    time.Time // the file was looked at
}

// glance is how long a file that was looked at is not looked at again: what another process
// has learned is known that much later, and many calls in a row look once.
const glance = 5 * time.Millisecond

// Open returns the catalog kept in dir. The directory is made when the first entry
// is put; an empty dir keeps entries in memory only.
func Open(dir string) *Catalog {
	return &Catalog{dir: dir, cached: map[string]cached{}, histories: map[string]*History{}, pins: map[string]pinsOf{}}
}

// Get returns the entry of a fingerprint, the newest that any process has put. A
// file that is missing, damaged or of another format counts as no entry.
func (c *Catalog) Get(fingerprint string) (*Entry, bool) {
	c.mu.Lock()
	known, ok := c.cached[fingerprint]
	c.mu.Unlock()
	if ok && known.file != nil && time.Since(known.at) < glance {
		return known.entry, true
	}
	path, onDisk := c.path(fingerprint)
	if !onDisk {
		return known.entry, ok
	}
	now, err := os.Stat(path)
	if err != nil || ok && isSame(known.file, now) {
		if ok && err == nil {
			c.looked(known.entry)
		}
		return known.entry, ok // what this process has learned outlives its file
	}
	e, err := read(path)
	if err != nil || e.Fingerprint != fingerprint {
		return known.entry, ok
	}
	c.keep(e, now)
	return e, true
}

// Put keeps an entry. If it cannot be written the entry is kept in memory all the
// same, and the error says why the next process will not find it.
func (c *Catalog) Put(e *Entry) error {
	kept := *e
	kept.Format = Format
	path, onDisk := c.path(e.Fingerprint)
	if !onDisk {
		c.keep(&kept, nil)
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		c.prune(time.Now())
	}
	data, err := encode(kept)
	if err == nil {
		err = store.WriteFile(path, data, 0o600)
	}
	if err != nil {
		now, _ := os.Stat(path) // an older file, which is not to replace what is known now
		c.keep(&kept, now)
		return err
	}
	c.keep(&kept, nil)
	return nil
}

// encode writes an entry as JSON. What the server sent stays as it is, byte for byte;
// package json would take spaces out and write <, > and & in another way.
func encode(e Entry) ([]byte, error) {
	raw := map[string]mcp.Raw{"tools": tools(e.Tools)}
	if e.ServerInfo != nil {
		raw["serverInfo"] = e.ServerInfo
	}
	e.Tools, e.ServerInfo = nil, nil
	data, err := json.Marshal(&e)
	for key, value := range raw {
		if err == nil {
			data, err = mcp.SetMember(data, key, value)
		}
	}
	return data, err
}

func tools(list []*mcp.Tool) mcp.Raw {
	b := mcp.Raw{'['}
	for i, t := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, t.Raw...)
	}
	return append(b, ']')
}

// forgotten is how long an entry is kept that no process has put again. A server that
// is started puts its entry, so these are of definitions that have changed.
const forgotten = 90 * 24 * time.Hour

// prune removes the files of entries that are long out of use.
func (c *Catalog) prune(now time.Time) {
	files, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() || filepath.Ext(f.Name()) != ".json" || now.Sub(info.ModTime()) < forgotten {
			continue
		}
		_ = os.Remove(filepath.Join(c.dir, f.Name())) // next time, or never: it does no harm
	}
}

func (c *Catalog) keep(e *Entry, file os.FileInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cached[e.Fingerprint] = cached{e, file, time.Now()}
}

// looked notes that the file of an entry has just been looked at and is as it was.
func (c *Catalog) looked(e *Entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.cached[e.Fingerprint]; known.entry == e {
		known.at = time.Now()
		c.cached[e.Fingerprint] = known
	}
}

// path names the file of an entry. A fingerprint that is no plain word has none.
func (c *Catalog) path(fingerprint string) (string, bool) {
	if c.dir == "" || fingerprint == "" || len(fingerprint) > 128 {
		return "", false
	}
	for _, r := range fingerprint {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_':
		default:
			return "", false
		}
	}
	return filepath.Join(c.dir, fingerprint+".json"), true
}

func isSame(a, b os.FileInfo) bool {
	return a != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func read(path string) (*Entry, error) {
	data, err := store.ReadFile(path, maxEntry)
	if err != nil {
		return nil, err
	}
	var head struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	if head.Format != Format {
		return nil, fmt.Errorf("%s has format %d, not %d", path, head.Format, Format)
	}
	e := &Entry{}
	if err := json.Unmarshal(data, e); err != nil {
		return nil, err
	}
	return e, nil
}
