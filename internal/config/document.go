package config

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"sync"
	"syscall"
	"unicode/utf16"
	"unicode/utf8"

	"mcpx/internal/fault"
)

// maxFile bounds a configuration file. The largest ones in the wild are other hosts'
// state files of a few MiB.
const maxFile = 64 << 20

// maxDepth bounds the nesting of lists and objects.
const maxDepth = 1000

const tooDeep = "lists and objects are nested more than 1000 deep here"

// document is the text of one configuration file.
type document struct {
	path     string
	raw      []byte // as they are in the file
	text     []byte // UTF-8 without a byte-order mark
	lines    []int  // offsets of the lines' first bytes
	warnings []warning
}

// warning is about what stands at an offset of a document.
type warning struct {
	at   int
	text string
}

// kind is the kind of a node, in words that fit after "is".
type kind string

const (
	null    kind = "null"
	boolean kind = "true or false"
	number  kind = "a number"
	text    kind = "a string"
	list    kind = "a list"
	object  kind = "an object"
)

// node is one value of a document: JSON, TOML or YAML.
type node struct {
	kind    kind
	text    string // of a scalar: a string without its quotes, anything else as written
	at, end int    // its place in the document's text
	list    []*node
	members []member // keys are unique
}

type member struct {
	key   string
	at    int
	value *node
}

// get returns the member of that name, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for _, m := range n.members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

func (n *node) isObject() bool { return n != nil && n.kind == object }

// exists reports whether there is anything at the path. What cannot be looked at is
// there: reading it will say what is wrong.
func (p place) exists() bool {
	_, err := os.Stat(p.path)
	return !os.IsNotExist(err) && !isNotDirectory(err)
}

// document reads the file. A nil document without an error means that there is none.
func (p place) document() (*document, *fault.Error) {
	if p.text != nil {
		return newDocument(p.path, p.text)
	}
	info, err := os.Stat(p.path)
	switch {
	case err != nil && (os.IsNotExist(err) || isNotDirectory(err)):
		return nil, nil
	case !p.explicit && errors.Is(err, fs.ErrPermission): // in a folder that is closed to us there is nothing for us
		return nil, nil
	case err != nil:
		return nil, p.unreadable(err)
	}
	if p.project && info.Mode().IsRegular() && !p.leadsToItsLike() {
		return nil, p.unreadable(errForeign)
	}
	if p.project && p.planted(info) {
		return nil, p.unreadable(errPlanted)
	}
	raw, err := readRegular(p.path, info)
	if err != nil {
		return nil, p.unreadable(err)
	}
	return newDocument(p.path, raw)
}

// planted reports whether somebody else may have put the file, or a link to it, where it is.
func (p place) planted(file fs.FileInfo) bool {
	folder, err := os.Stat(p.folder())
	if err != nil {
		return false
	}
	link, err := os.Lstat(p.path)
	return planted(folder, file) || err == nil && planted(folder, link)
}

// leadsToItsLike reports whether a file is what its name says it is also where it is a
// link. What is wrong with a file is shown with its text, and a project could name any by
// a link to have it shown.
func (p place) leadsToItsLike() bool {
	real, err := filepath.EvalSymlinks(p.path)
	return err != nil || filepath.Ext(real) == filepath.Ext(p.path)
}

var (
	errDirectory  = errors.New("it is a directory")
	errNotRegular = errors.New("it is not a regular file")
	errForeign    = errors.New("it is a link to what is called otherwise")
	errPlanted    = errors.New("it is another user's, in a folder that everybody can write to")
	errTooLarge   = fmt.Errorf("it is larger than %d MiB", maxFile>>20)
)

// readRegular reads a whole file and nothing but a file: a pipe that nobody writes to
// would keep us for ever, and a device may do anything when it is read. The path was
// looked at as info; what is opened is looked at again, without waiting for a writer.
func readRegular(path string, info fs.FileInfo) ([]byte, error) {
	if err := regular(info); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := regular(info); err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(raw) > maxFile {
		err = errTooLarge
	}
	return raw, err
}

// Text reads the whole of a configuration file, as it is. It reads regular files only;
// for one that is not there os.IsNotExist holds of the error.
func Text(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return readRegular(path, info)
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return errDirectory
	case !info.Mode().IsRegular():
		return errNotRegular
	case info.Size() > maxFile:
		return errTooLarge
	}
	return nil
}

// unreadable makes the error for a file whose text cannot be had.
func (p place) unreadable(err error) *fault.Error {
	e := fault.Usagef("the configuration file %s cannot be read: %w", p.path, reason(err)).With("file", p.path)
	switch {
	case errors.Is(err, errDirectory) && p.explicit:
		return e.Hintf("name a file in it, such as %s", filepath.Join(p.path, ".mcp.json"))
	case errors.Is(err, errDirectory), errors.Is(err, errNotRegular) && !p.explicit:
		return e.Hintf("a configuration file is looked for under this name; give what is there another one")
	case errors.Is(err, errNotRegular):
		return e.Hintf("pipes, sockets and devices are not read; write the configuration to a file and name that")
	case errors.Is(err, errPlanted):
		return e.Hintf("what it names would be started as you: read it first, and give it with --config; or work in another folder")
	case errors.Is(err, errTooLarge):
		return e.Hintf("this is hardly a list of servers; copy its \"mcpServers\" to a file of their own, and name that with --config")
	case errors.Is(err, fs.ErrPermission):
		return e.Hintf("make it readable for yourself: chmod u+r %s", fault.ShellWord(p.path))
	case errors.Is(err, syscall.ELOOP):
		return e.Hintf("it is a symbolic link that leads back to itself; remove it, or let it lead to a file")
	}
	return e.Hintf("name another file with --config to go on without it")
}

// reason drops the path that an error of package os repeats.
func reason(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// isNotDirectory reports that a parent of the path is a file: there is nothing there.
func isNotDirectory(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// newDocument decodes the bytes of a file: UTF-8 with or without a byte-order mark, or
// UTF-16 with one.
func newDocument(path string, raw []byte) (*document, *fault.Error) {
	d := &document{path: path, raw: raw, text: raw}
	wide := false
	switch {
	case bytes.HasPrefix(raw, []byte("\xEF\xBB\xBF")):
		d.text = raw[3:]
	case bytes.HasPrefix(raw, []byte("\xFF\xFE")):
		d.text, wide = fromUTF16(raw[2:], binary.LittleEndian), true
	case bytes.HasPrefix(raw, []byte("\xFE\xFF")):
		d.text, wide = fromUTF16(raw[2:], binary.BigEndian), true
	}
	d.lines = []int{0}
	for i, b := range d.text {
		if b == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	for i := 0; i < len(d.text); {
		r, size := utf8.DecodeRune(d.text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return d, d.broken(i, "a byte that is not UTF-8", "save the file as UTF-8")
		case r == 0:
			return d, d.broken(i, "a NUL character", "save the file as UTF-8 text")
		}
		i += size
	}
	if wide && len(raw)%2 != 0 {
		return d, d.broken(len(d.text), "half a character of UTF-16, where the file ends", "the file is cut short, or is no UTF-16; save it as UTF-8")
	}
	return d, nil
}

// fromUTF16 decodes whole units; half of one at the end is left out.
func fromUTF16(raw []byte, order binary.ByteOrder) []byte {
	units := make([]uint16, 0, len(raw)/2)
	for ; len(raw) >= 2; raw = raw[2:] {
		units = append(units, order.Uint16(raw))
	}
	return []byte(string(utf16.Decode(units)))
}

// maxColumns is how much of a line is counted in characters; beyond it a byte is a column.
// A file of many entries can be one line, and each of them is somewhere in it.
const maxColumns = 4096

// at is where the byte at an offset stands: line and column.
func (d *document) at(offset int) (line, column int) {
	offset = max(0, min(offset, len(d.text)))
	line = d.line(offset)
	before := d.text[d.lines[line-1]:offset]
	if len(before) > maxColumns {
		return line, len(before) + 1
	}
	column = 1
	for _, r := range string(before) {
		column += max(1, utf16.RuneLen(r))
	}
	return line, column
}

func (d *document) line(offset int) int { return sort.SearchInts(d.lines, offset+1) }

// position is where the byte at an offset stands, with the text of the line.
func (d *document) position(at int) fault.Position {
	line, column := d.at(at)
	start, end := d.lines[line-1], len(d.text)
	if line < len(d.lines) {
		end = d.lines[line] - 1
	}
	return fault.Position{
		File: d.path, Line: line, Column: column,
		Text: strings.TrimRight(string(d.text[start:end]), "\r\n"),
	}
}

// offset is the reverse of position for a column that counts bytes.
func (d *document) offset(line, column int) int {
	line = max(1, min(line, len(d.lines)))
	return min(d.lines[line-1]+max(0, column-1), len(d.text))
}

func (d *document) origin(at int) Origin {
	line, column := d.at(at)
	return Origin{d.path, line, column}
}

// broken makes the error for a file that cannot be understood from an offset on.
func (d *document) broken(at int, what, hint string) *fault.Error {
	p := d.position(at)
	message := fmt.Sprintf("%s: %s", p, what)
	if line, caret := p.Excerpt(); line != "" {
		message += "\n    " + line + "\n    " + caret
	}
	return fault.Usagef("%s", message).Hintf("%s", hint).
		With("file", p.File).With("line", p.Line).With("column", p.Column)
}

func (d *document) warn(at int, format string, args ...any) {
	d.warnings = append(d.warnings, warning{at, d.origin(at).String() + ": " + fmt.Sprintf(format, args...)})
}

// parse reads the document's syntax. An empty document is an empty object.
func (d *document) parse() (*node, *fault.Error) {
	root, err := d.parseAny()
	switch {
	case err != nil:
		return nil, err
	case root.kind != object:
		return nil, d.broken(root.at, "the file holds "+string(root.kind)+" where an object is needed",
			`write { "mcpServers": { … } }`)
	}
	return root, nil
}

func (d *document) parseAny() (*node, *fault.Error) {
	switch {
	case d.isYAML():
		return d.parseYAML()
	case d.isTOML():
		return d.parseTOML()
	}
	return d.parseJSON()
}

var tomlStart = sync.OnceValue(func() *regexp.Regexp {
	// The first line that is no comment is a table header or the key of a value.
	return regexp.MustCompile(`^(?:[ \t\r\n]|#[^\n]*(?:\n|$))*(?:\[\[?[ \t]*["'A-Za-z0-9_-]+[^,\n]*\]|["']?[A-Za-z0-9_-][^:={}\n]*=)`)
})

// isTOML decides by the name if that says it, and by the text otherwise.
func (d *document) isTOML() bool {
	switch strings.ToLower(filepath.Ext(d.path)) {
	case ".toml":
		return true
	case ".json", ".jsonc", ".json5":
		return bytes.HasPrefix(bytes.TrimLeft(d.text, " \t\r\n"), []byte("[mcp_servers"))
	}
	return tomlStart().Match(d.text)
}

func (d *document) isYAML() bool {
	ext := strings.ToLower(filepath.Ext(d.path))
	return ext == ".yaml" || ext == ".yml"
}
