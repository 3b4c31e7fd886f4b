package files

import (
	"io/fs"
	"strconv"
	"time"

	"mcpx/internal/grant"
)

// The bits of a mode that say what a file is, as Linux has them.
const (
	bitsFIFO      = 0o010000
	bitsCharacter = 0o020000
	bitsDirectory = 0o040000
	bitsBlock     = 0o060000
	bitsRegular   = 0o100000
	bitsLink      = 0o120000
	bitsSocket    = 0o140000
	bitSetuid     = 0o4000
	bitSetgid     = 0o2000
	bitSticky     = 0o1000
)

// statOf is what is known of a file, as texts.
func statOf(info grant.Info) map[string]string {
	stat := map[string]string{}
	put := func(name string, n int64) { stat[name] = strconv.FormatInt(n, 10) }
	put("mode", modeOf(info.Mode()))
	put("size", info.Size())
	put("nlink", 1)
	put("blksize", 4096)
	put("blocks", (info.Size()+511)/512)
	modified := info.ModTime().UnixNano()
	for _, name := range []string{"atime", "mtime", "ctime", "birthtime"} {
		put(name, modified)
	}
	system(info, stat)
	if !info.Birth.IsZero() {
		put("birthtime", nanos(info.Birth))
	}
	return stat
}

// nanos is a time in nanoseconds, 0 if it cannot be said in them.
func nanos(t time.Time) int64 {
	if t.Year() < 1678 || t.Year() > 2261 {
		return 0
	}
	return t.UnixNano()
}

// modeOf turns Go's bits of a mode into those of Linux.
func modeOf(mode fs.FileMode) int64 {
	bits := int64(mode.Perm())
	for _, b := range []struct {
		is fs.FileMode
		as int64
	}{{fs.ModeSetuid, bitSetuid}, {fs.ModeSetgid, bitSetgid}, {fs.ModeSticky, bitSticky}} {
		if mode&b.is != 0 {
			bits |= b.as
		}
	}
	switch typeOf(mode) {
	case "file":
		bits |= bitsRegular
	case "directory":
		bits |= bitsDirectory
	case "link":
		bits |= bitsLink
	case "fifo":
		bits |= bitsFIFO
	case "socket":
		bits |= bitsSocket
	case "character":
		bits |= bitsCharacter
	case "block":
		bits |= bitsBlock
	}
	return bits
}

// typeOf is the word for what a file is.
func typeOf(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "file"
	case fs.ModeDir:
		return "directory"
	case fs.ModeSymlink:
		return "link"
	case fs.ModeNamedPipe:
		return "fifo"
	case fs.ModeSocket:
		return "socket"
	case fs.ModeDevice | fs.ModeCharDevice:
		return "character"
	case fs.ModeDevice:
		return "block"
	}
	return "unknown"
}
