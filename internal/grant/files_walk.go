package grant

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"mcpx/internal/fault"
)

// gate is one of the two grants for files.
type gate struct {
	grant      string
	base       string
	free       bool // everything is granted, and nothing taken away
	everything bool
	starts     []*start
	taken      []*taken
}

// A start is one granted path. It is entered from the folder above it, so that it need
// not be there yet, may be a single file, and can be removed and made again.
type start struct {
	spelled, real string // as granted, and without links
	outer         point  // the deepest folder above that was there when the run began
	inner         point  // the granted folder itself, for when the one above cannot be opened

	mu     sync.Mutex
	opened *point // guarded by mu, as is what is in it
	closed bool
}

// A point is a folder that walks begin in: its path, what it was when the run began, and
// the names that lead from it to what is granted.
type point struct {
	path  string
	was   os.FileInfo
	chain []string
	root  *os.Root
}

// place is where a path leads: a name in an open folder.
type place struct {
	gate   *gate
	as     string // the path as the script spelled it
	dir    *os.Root
	own    bool // dir is to be closed
	name   string
	info   os.FileInfo // what has the name; nil if nothing has
	slash  bool        // the path means a folder
	folder string      // the path of dir, without links unless loose
	loose  bool        // where everything is granted
	top    *os.Root    // what the walk began in, and where dir is below it; nil if loose
	below  string
}

func (p *place) close() {
	if p.own {
		p.dir.Close()
	}
}

// real returns the path of the place without links.
func (p *place) real() (string, error) {
	folder := p.folder
	if p.loose {
		var err error
		if folder, err = filepath.EvalSymlinks(folder); err != nil {
			return "", err
		}
	}
	return filepath.Join(folder, p.name), nil
}

// walk is how a path is followed.
type walk struct {
	as     string      // the path to speak of in errors, if not the one that is followed
	follow bool        // the last part too, if it is a link
	make   bool        // make the folders that are missing
	mode   os.FileMode // of these
	first  *string     // gets the path of the first of these
}

func openGate(grant, base string, words Words, everything bool) (*gate, error) {
	g := &gate{grant: grant, base: filepath.Clean(base), everything: everything}
	if words.None() {
		return g, nil
	}
	for _, path := range words.Deny {
		if !filepath.IsAbs(path) {
			return nil, fault.Usagef("the path %q that %s is denied for is not absolute", path, grant)
		}
		g.taken = append(g.taken, takeAway(filepath.Clean(path)))
	}
	allow := words.Allow
	if slices.Contains(allow, Any) {
		if len(g.taken) == 0 {
			g.free = true
			return g, nil
		}
		allow = []string{filepath.VolumeName(base) + string(filepath.Separator)}
	}
	for _, path := range allow {
		if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
			return nil, fault.Usagef("the path %q that %s is granted for is not absolute", path, grant)
		}
		if s := startAt(filepath.Clean(path)); !g.takes(s.real) {
			g.starts = append(g.starts, s)
		}
	}
	return g, nil
}

func (g *gate) close() {
	for _, s := range g.starts {
		s.close()
	}
}

// startAt looks at what is granted.
func startAt(path string) *start {
	s := &start{spelled: path, real: resolve(path, maxLinks)}
	above, chain := s.real, []string(nil)
	for {
		info, err := os.Stat(above)
		if err == nil && info.IsDir() {
			if len(chain) > 0 || filepath.Dir(above) == above {
				s.outer = point{path: above, was: info, chain: chain}
				return s
			}
			s.inner = point{path: above, was: info}
		}
		up := filepath.Dir(above)
		if up == above {
			return s // nothing is there: neither does the path lead anywhere
		}
		chain = append([]string{filepath.Base(above)}, chain...)
		above = up
	}
}

// resolve returns a path without the links in it, as far as it exists.
func resolve(path string, links int) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if links == 0 || filepath.Dir(path) == path {
		return path
	}
	if target, err := os.Readlink(path); err == nil { // a link to what is not there
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		return resolve(target, links-1)
	}
	return filepath.Join(resolve(filepath.Dir(path), links-1), filepath.Base(path))
}

// enter returns the point that a walk begins in. It is opened when it is first needed,
// and must then be what it was when the run began: a script that may move folders does
// not choose where another grant begins.
func (s *start) enter(everything bool) (point, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return point{}, fs.ErrClosed
	}
	if s.opened != nil {
		return *s.opened, nil
	}
	at := s.outer
	err := at.open(everything)
	if errors.Is(err, fs.ErrPermission) && s.inner.was != nil {
		at = s.inner
		err = at.open(everything)
	}
	if err != nil {
		return point{}, err
	}
	s.opened = &at
	return at, nil
}

func (p *point) open(everything bool) error {
	if p.was == nil {
		return fs.ErrNotExist
	}
	root, err := os.OpenRoot(p.path + "/.") // only a folder is opened
	if err != nil {
		return err
	}
	info, err := root.Stat(".")
	if err == nil && !os.SameFile(info, p.was) {
		err = fs.ErrNotExist
	}
	if err == nil && !everything && kernels(root) {
		err = fs.ErrNotExist
	}
	if err != nil {
		root.Close()
		return err
	}
	p.root = root
	return nil
}

func (s *start) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.opened != nil {
		s.opened.root.Close()
		s.opened = nil
	}
}

// find follows a path from what is granted to a place, which the caller must close.
func (g *gate) find(path string, w walk) (*place, error) {
	if w.as == "" {
		w.as = path
	}
	switch {
	case path == "":
		return nil, syscall.ENOENT
	case strings.IndexByte(path, 0) >= 0:
		return nil, Denied(g.grant, w.as)
	case len(path) > maxPath:
		return nil, FileError(w.as, syscall.ENAMETOOLONG)
	}
	if g.free {
		return g.anywhere(g.absolute(path), w)
	}
	f := finder{gate: g, walk: w}
	next := g.absolute(path)
	for next != "" {
		s, todo, ok := g.route(next)
		if !ok {
			return nil, Denied(g.grant, w.as)
		}
		at, err := s.enter(g.everything)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, Denied(g.grant, w.as)
		case err != nil:
			return nil, err
		}
		_, f.slash = split(next)
		var p *place
		if p, next, err = f.descend(at, append(slices.Clone(at.chain), todo...)); err != nil || p != nil {
			return p, err
		}
	}
	return nil, Denied(g.grant, w.as)
}

// absolute is an absolute path, with the dots that are in it.
func (g *gate) absolute(path string) string {
	switch {
	case filepath.IsAbs(path):
		return path
	case runtime.GOOS == "windows" && os.IsPathSeparator(path[0]):
		return filepath.VolumeName(g.base) + path
	}
	return g.base + string(filepath.Separator) + path
}

// route finds the grant that the text of a path leads to, and the parts that come after
// it. It decides only where to begin.
func (g *gate) route(path string) (s *start, rest []string, ok bool) {
	volume := filepath.VolumeName(path)
	parts, _ := split(path[len(volume):])
	at := volume + string(filepath.Separator)
	for i := 0; ; i++ {
		for _, s := range g.starts {
			if sameText(at, s.spelled) || sameText(at, s.real) {
				return s, parts[i:], true
			}
		}
		if i == len(parts) {
			return nil, nil, false
		}
		at = filepath.Join(at, parts[i]) // which takes a part away for two dots
	}
}

// sameText compares paths as the file systems of the platform usually do.
func sameText(a, b string) bool {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// finder follows one path.
type finder struct {
	gate    *gate
	walk    walk
	slash   bool
	links   int
	steps   int
	changes int
}

// descend goes from a point, part by part, each in the folder that was opened before.
// Where the way leaves what is granted there, it returns the text of the path to go on
// with, which has to be granted as well.
func (f *finder) descend(at point, todo []string) (p *place, next string, err error) {
	g := f.gate
	var (
		cur  = at.root
		here = at.was // what cur is
		done []string // the names that lead to cur, none of them a link
	)
	restart := func() {
		if cur != at.root {
			cur.Close()
		}
		cur, here, done = at.root, at.was, nil
	}
	defer func() {
		if p == nil || p.dir != cur {
			restart()
		}
	}()
	found := func(name string, info os.FileInfo) *place {
		return &place{
			gate: g, as: f.walk.as, dir: cur, own: cur != at.root, name: name, info: info, slash: f.slash,
			folder: filepath.Join(append([]string{at.path}, done...)...), top: at.root, below: filepath.Join(done...),
		}
	}
	path := func(names ...string) string { return filepath.Join(append([]string{at.path}, names...)...) }
	onward := func(target string, rest []string) string {
		next := target + string(filepath.Separator) + strings.Join(rest, string(filepath.Separator))
		if f.slash && len(rest) > 0 {
			next += string(filepath.Separator)
		} else if !f.slash && len(rest) == 0 {
			next = target
		}
		return next
	}
	for {
		if f.steps++; f.steps > maxSteps {
			return nil, "", syscall.ELOOP
		}
		if len(todo) == 0 {
			if len(done) == 0 { // the root of the file system
				info, err := cur.Lstat(".")
				return &place{gate: g, as: f.walk.as, dir: cur, name: ".", info: info, slash: true, folder: at.path, top: at.root}, "", err
			}
			todo = done
			restart()
			continue
		}
		name, rest := todo[0], todo[1:]
		if name == ".." {
			if len(done) == 0 || len(done) <= len(at.chain) {
				return nil, onward(filepath.Dir(path(done...)), rest), nil
			}
			todo = append(slices.Clone(done[:len(done)-1]), rest...)
			restart()
			continue
		}
		last := len(rest) == 0
		info, err := cur.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if g.deniesName(cur, name) {
				return nil, "", Denied(g.grant, f.walk.as)
			}
			if f.walk.make {
				if err := f.mkdir(cur, name, path(append(done, name)...)); err != nil {
					return nil, "", err
				}
				continue
			}
			if !last {
				return nil, "", syscall.ENOENT
			}
			return found(name, nil), "", nil
		case err != nil:
			return nil, "", err
		case g.deniesInfo(info):
			return nil, "", Denied(g.grant, f.walk.as)
		case info.Mode()&fs.ModeSymlink != 0 && (!last || f.walk.follow || f.slash):
			if f.links++; f.links > maxLinks {
				return nil, "", syscall.ELOOP
			}
			target, err := cur.Readlink(name)
			if err != nil {
				continue // it is no link any more
			}
			if len(target) > maxPath {
				return nil, "", syscall.ENAMETOOLONG
			}
			if filepath.IsAbs(target) {
				return nil, onward(target, rest), nil
			}
			parts, slash := split(target)
			if last && slash {
				f.slash = true
			}
			if len(done) < len(at.chain) {
				// What is granted has become a link: then that has to be granted where it leads.
				return nil, onward(path(append(done, target)...), rest), nil
			}
			todo = append(parts, rest...)
			continue
		}
		if last {
			if f.slash && !info.IsDir() {
				return nil, "", syscall.ENOTDIR
			}
			if info.IsDir() {
				// What is mounted here may be the kernel's.
				err := g.looksInto(cur, name, info, here, f.walk.as)
				if errors.Is(err, errChanged) && f.again() {
					continue
				}
				if err != nil {
					return nil, "", f.failed(err)
				}
			}
			return found(name, info), "", nil
		}
		if !info.IsDir() {
			return nil, "", syscall.ENOTDIR
		}
		inner, err := g.enter(cur, name, info, here, f.walk.as)
		if err != nil {
			if errors.Is(err, errChanged) && f.again() {
				continue
			}
			return nil, "", f.failed(err)
		}
		if cur != at.root {
			cur.Close()
		}
		cur, here, done, todo = inner, info, append(done, name), rest
	}
}

// again reports whether to look once more at what was swapped.
func (f *finder) again() bool {
	f.changes++
	return f.changes < maxChanges
}

// failed is the error of a walk that ends.
func (f *finder) failed(err error) error {
	if errors.Is(err, errChanged) {
		return Denied(f.gate.grant, f.walk.as)
	}
	return err
}

// mkdir makes a folder on the way.
func (f *finder) mkdir(dir *os.Root, name, path string) error {
	err := dir.Mkdir(name, f.walk.mode)
	switch {
	case err == nil:
		if *f.walk.first == "" {
			*f.walk.first = path
		}
	case errors.Is(err, fs.ErrExist) && f.again():
		return nil
	}
	return err
}

// enter opens the folder name of dir, of which info was just seen. here is what dir is,
// if that is known.
func (g *gate) enter(dir *os.Root, name string, info, here os.FileInfo, as string) (*os.Root, error) {
	// With the dot nothing but a folder is opened. A link that has taken the name
	// meanwhile could be followed within dir; then it is not the same folder.
	inner, err := dir.OpenRoot(name + "/.")
	if err != nil {
		if code, _ := systemCode(err); code == "" || code == "ENOENT" || code == "ENOTDIR" || code == "ELOOP" {
			return nil, errChanged
		}
		return nil, err
	}
	opened, err := inner.Stat(".")
	switch {
	case err != nil:
	case !os.SameFile(opened, info):
		err = errChanged
	case !g.everything && mounted(opened, here) && kernels(inner):
		err = Denied(g.grant, as)
	}
	if err != nil {
		inner.Close()
		return nil, err
	}
	return inner, nil
}

// looksInto refuses the folder name of dir if a file system of the kernel begins there.
func (g *gate) looksInto(dir *os.Root, name string, info, here os.FileInfo, as string) error {
	if g.everything || !mounted(info, here) {
		return nil
	}
	inner, err := g.enter(dir, name, info, here, as)
	if err == nil {
		inner.Close()
	}
	return err
}

// anywhere finds a place where everything is granted: the system follows the path.
func (g *gate) anywhere(path string, w walk) (*place, error) {
	if w.make {
		if err := g.makeAll(path, w); err != nil {
			return nil, err
		}
	}
	for range maxLinks {
		_, slash := split(path)
		trimmed := trimSlashes(path)
		dir, name := filepath.Split(trimmed)
		if dir == "" || name == "." || name == ".." || trimmed == filepath.VolumeName(path) {
			dir, name = path, "."
		}
		root, err := os.OpenRoot(dir + "/.")
		if err != nil {
			return nil, err
		}
		p := &place{gate: g, as: w.as, dir: root, own: true, name: name, slash: slash, folder: dir, loose: true}
		if !g.everything && kernels(root) {
			p.close()
			return nil, Denied(g.grant, w.as)
		}
		info, err := root.Lstat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return p, nil
		case err != nil:
			p.close()
			return nil, err
		case info.Mode()&fs.ModeSymlink != 0 && (w.follow || slash):
			target, err := root.Readlink(name)
			p.close()
			if err != nil {
				return nil, err
			}
			if !filepath.IsAbs(target) {
				target = dir + string(filepath.Separator) + target
			}
			if path = target; slash {
				path += string(filepath.Separator)
			}
			continue
		case slash && !info.IsDir():
			p.close()
			return nil, syscall.ENOTDIR
		}
		p.info = info
		if info.IsDir() && name != "." {
			here, err := root.Stat(".")
			if err == nil {
				err = g.looksInto(root, name, info, here, w.as)
			}
			if err != nil {
				p.close()
				return nil, err
			}
		}
		return p, nil
	}
	return nil, syscall.ELOOP
}

// makeAll makes the folders of a path that are missing, where everything is granted.
func (g *gate) makeAll(path string, w walk) error {
	at := filepath.Clean(path)
	for ; filepath.Dir(at) != at; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		*w.first = at
	}
	if *w.first == "" {
		return nil
	}
	p, err := g.anywhere(at, walk{as: w.as, follow: true})
	if err != nil {
		return err
	}
	p.close()
	return os.MkdirAll(path, w.mode)
}
