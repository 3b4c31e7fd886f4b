package path

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// style is how paths are written: with slashes, or as Windows does.
type style struct {
	windows bool
	cwd     string
}

func itoa(i int) string { return strconv.Itoa(i) }

func (s style) separator() string {
	if s.windows {
		return `\`
	}
	return "/"
}

func (s style) separates(c byte) bool { return c == '/' || s.windows && c == '\\' }

// root is the start of a path.
type root struct {
	device   string // C: or \\server\share, with backslashes
	absolute bool
	end      int // where the rest begins
}

func (s style) root(path string) root {
	r := s.prefix(path)
	if strings.HasPrefix(r.device, `\\?\`) || strings.HasPrefix(r.device, `\\.\`) {
		return root{device: r.device[:3], absolute: true, end: 4} // \\.\DEVICE is no share
	}
	return r
}

// prefix is root for what does not care about devices.
func (s style) prefix(path string) root {
	switch {
	case path == "":
		return root{}
	case s.separates(path[0]):
		if s.windows && len(path) > 1 && s.separates(path[1]) {
			if device, end := share(path); end > 0 {
				return root{device: device, absolute: true, end: end}
			}
		}
		return root{absolute: true, end: 1}
	case s.drive(path):
		if len(path) > 2 && s.separates(path[2]) {
			return root{device: path[:2], absolute: true, end: 3}
		}
		return root{device: path[:2], end: 2}
	}
	return root{}
}

// drive reports whether a path starts with a drive letter.
func (s style) drive(path string) bool {
	return s.windows && len(path) > 1 && path[1] == ':' && letter(path[0])
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// share reads \\server\share at the start of a path that begins with two separators.
// end is 0 if it is none.
func share(path string) (device string, end int) {
	w := style{windows: true}
	run := func(from int, separators bool) int {
		for from < len(path) && w.separates(path[from]) == separators {
			from++
		}
		return from
	}
	server := run(2, false)
	if server == 2 || server == len(path) {
		return "", 0
	}
	name := run(server, true)
	end = run(name, false)
	if end == name {
		return "", 0
	}
	return `\\` + path[2:server] + `\` + path[name:end], end
}

// clean resolves the dots in a path without a root. above says that what goes above its
// start stays.
func (s style) clean(path string, above bool) string {
	var parts []string
	for path != "" {
		end := 0
		for end < len(path) && !s.separates(path[end]) {
			end++
		}
		part := path[:end]
		path = path[min(end+1, len(path)):]
		switch {
		case part == "" || part == ".":
		case part != "..":
			parts = append(parts, part)
		case len(parts) > 0 && parts[len(parts)-1] != "..":
			parts = parts[:len(parts)-1]
		case above:
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, s.separator())
}

func (s style) isAbsolute(path string) bool {
	if path == "" {
		return false
	}
	return s.separates(path[0]) || s.drive(path) && len(path) > 2 && s.separates(path[2])
}

func (s style) normalize(path string) string {
	if path == "" {
		return "."
	}
	r := s.root(path)
	device := 0 // where the name of a device such as CON: ends
	if colon := strings.IndexByte(path, ':'); s.windows && colon > 0 && reserved(path[:colon]) {
		device = colon + 1
		r = root{device: path[:device], end: device}
	}
	tail := s.clean(path[r.end:], !r.absolute)
	if tail == "" && !r.absolute {
		tail = "."
	}
	if tail != "" && s.separates(path[len(path)-1]) && r.end < len(path) {
		tail += s.separator()
	}
	if r.absolute {
		return r.device + s.separator() + tail
	}
	if s.windows && (device > 0 || r.device == "" && looksLikeDrive(path, tail)) {
		return `.\` + r.device + tail
	}
	return r.device + tail
}

// looksLikeDrive reports whether Windows could take a relative path for one on a drive,
// which the script did not name.
func looksLikeDrive(path, tail string) bool {
	if (style{windows: true}).drive(tail) {
		return strings.Contains(path, ":")
	}
	for i := range len(path) {
		if path[i] == ':' && (i == len(path)-1 || path[i+1] == '/' || path[i+1] == '\\') {
			return true
		}
	}
	return false
}

// reserved reports whether Windows has a device of that name.
func reserved(name string) bool {
	name = strings.ToUpper(name)
	switch name {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	number := strings.TrimPrefix(strings.TrimPrefix(name, "COM"), "LPT")
	return number != name && len([]rune(number)) == 1 && strings.Contains("123456789\u00b9\u00b2\u00b3", number)
}

func (s style) join(parts []string) string {
	var some []string
	for _, p := range parts {
		if p != "" {
			some = append(some, p)
		}
	}
	if len(some) == 0 {
		return "."
	}
	joined := strings.Join(some, s.separator())
	if s.windows && !s.startsShare(some[0]) {
		// What is joined must not come to look like \\server\share.
		slashes := 0
		for slashes < len(joined) && s.separates(joined[slashes]) {
			slashes++
		}
		if slashes >= 2 {
			joined = `\` + joined[slashes:]
		}
	}
	return s.normalize(joined)
}

func (s style) startsShare(path string) bool {
	return len(path) > 2 && s.separates(path[0]) && s.separates(path[1]) && !s.separates(path[2])
}

// resolve takes paths from the last to the first.
func (s style) resolve(paths []string) string {
	device, tail, absolute := "", "", false
	add := func(path string) (complete bool) {
		if path == "" {
			return false
		}
		r := s.root(path)
		if r.device != "" {
			if device != "" && !strings.EqualFold(r.device, device) {
				return false // of another drive
			}
			if device == "" {
				device = r.device
			}
		}
		if !absolute {
			tail = path[r.end:] + s.separator() + tail
			absolute = r.absolute
		}
		return absolute && (device != "" || !s.windows)
	}
	complete := false
	for _, p := range paths {
		if complete = add(p); complete {
			break
		}
	}
	if !complete {
		if device != "" && !strings.EqualFold(s.root(s.cwd).device, device) {
			add(device + s.separator())
		} else {
			add(s.cwd)
		}
	}
	tail = s.clean(tail, !absolute)
	if absolute {
		return device + s.separator() + tail
	}
	if device+tail == "" {
		return "."
	}
	return device + tail
}

func (s style) relative(from, to string) string {
	if from == to {
		return ""
	}
	from, to = s.resolve([]string{from}), s.resolve([]string{to})
	if from == to || s.windows && strings.EqualFold(from, to) {
		return ""
	}
	split := func(path string) []string {
		if path = strings.Trim(path, s.separator()); path == "" {
			return nil
		}
		return strings.Split(path, s.separator())
	}
	a, b := split(from), split(to)
	common := 0
	for common < min(len(a), len(b)) && (a[common] == b[common] || s.windows && strings.EqualFold(a[common], b[common])) {
		common++
	}
	if s.windows && common == 0 && len(a) > 0 && len(b) > 0 {
		return to // on another drive
	}
	var out []string
	for range a[common:] {
		out = append(out, "..")
	}
	return strings.Join(append(out, b[common:]...), s.separator())
}

func (s style) namespaced(path string) string {
	resolved := s.resolve([]string{path})
	if utf8.RuneCountInString(resolved) <= 2 {
		return path
	}
	switch {
	case strings.HasPrefix(resolved, `\\`):
		if resolved[2] != '?' && resolved[2] != '.' {
			return `\\?\UNC\` + resolved[2:]
		}
	case s.drive(resolved) && resolved[2] == '\\':
		return `\\?\` + resolved
	}
	return resolved
}

// last finds the last part of a path from start on: path[begin:end], without the
// separators behind it. Both are start if there is none.
func (s style) last(path string, start int) (begin, end int) {
	end = len(path)
	for end > start && s.separates(path[end-1]) {
		end--
	}
	for begin = end; begin > start && !s.separates(path[begin-1]); begin-- {
	}
	return begin, end
}

func (s style) dirname(path string) string {
	if path == "" {
		return "."
	}
	r := s.prefix(path)
	keep := r.end // what is never taken away
	if r.device != "" && !s.drive(path) {
		if r.end == len(path) {
			return path
		}
		keep++ // the separator after the share
	}
	begin, _ := s.last(path, keep)
	if begin <= keep {
		if keep == 0 {
			return "."
		}
		return path[:keep]
	}
	if !s.windows && keep == 1 && begin == 2 {
		return "//"
	}
	return path[:begin-1]
}

func (s style) basename(path, suffix string) string {
	if suffix != "" && suffix == path {
		return ""
	}
	start := 0
	if s.drive(path) {
		start = 2
	}
	begin, end := s.last(path, start)
	base := path[begin:end]
	switch {
	case suffix == "" || utf8.RuneCountInString(suffix) > utf8.RuneCountInString(path) || base == suffix:
		return base
	case strings.HasSuffix(suffix, base):
		return path[begin:] // as Node does, with what separates behind it
	}
	return strings.TrimSuffix(base, suffix)
}

func (s style) extname(path string) string {
	_, ext := split(s.basename(path, ""))
	return ext
}

// split takes the extension off a name.
func split(base string) (name, ext string) {
	dot := strings.LastIndexByte(base, '.')
	if dot <= 0 || base == ".." {
		return base, ""
	}
	return base[:dot], base[dot:]
}

// parts are those of a path.
type parts struct{ root, dir, base, ext, name string }

func (s style) parse(path string) (p parts) {
	r := s.prefix(path)
	start := r.end
	if s.windows && r.device != "" && !s.drive(path) && r.end < len(path) {
		start++ // the separator after the share
	}
	p.root = path[:start]
	begin, end := s.last(path, start)
	p.base = path[begin:end]
	p.name, p.ext = split(p.base)
	p.dir = p.root
	if begin > start {
		p.dir = path[:begin-1]
	}
	return p
}
