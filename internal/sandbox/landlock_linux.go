package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readsOfFiles is what a bundler does.
const readsOfFiles = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR

// ruleset is a domain of Landlock: what it handles is denied but for its rules.
type ruleset struct {
	fd int
}

// newRuleset makes one that handles all that the kernel knows, but for what keeps.
func newRuleset(keeps uint64) (*ruleset, error) {
	abi, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return nil, os.NewSyscallError("landlock", errno)
	}
	attr := handled(int(abi)) //nolint:gosec // a small number
	attr.Handled_access_fs &^= keeps
	// Trailing zeros are welcome to kernels that know fewer fields.
	fd, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return nil, os.NewSyscallError("landlock_create_ruleset", errno)
	}
	return &ruleset{int(fd)}, nil //nolint:gosec // a descriptor
}

// handled is what the versions of Landlock can deny.
func handled(abi int) unix.LandlockRulesetAttr {
	const first = unix.LANDLOCK_ACCESS_FS_REFER - 1 // all bits below
	a := unix.LandlockRulesetAttr{Handled_access_fs: first}
	if abi >= 2 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 4 {
		a.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 5 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		a.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return a
}

// allow adds a rule for a file, or for a directory with all below it. A path that is not
// there needs none.
func (r *ruleset) allow(path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES) {
		return nil
	}
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	rule := unix.LandlockPathBeneathAttr{Allowed_access: access, Parent_fd: int32(fd)} //nolint:gosec // a descriptor
	_, _, errno := unix.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0)
	if errno != 0 {
		return os.NewSyscallError("landlock_add_rule", errno)
	}
	return nil
}

// enter puts all threads of the process into the domain. It needs no_new_privs.
func (r *ruleset) enter() error {
	if err := onAllThreads("restrict_self", unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

func (r *ruleset) close() { _ = unix.Close(r.fd) }

// restrict enters a domain that keeps what keeps says, with rules.
func restrict(keeps uint64, rules func(*ruleset) error) error {
	r, err := newRuleset(keeps)
	if err != nil {
		return err
	}
	defer r.close()
	if rules != nil {
		if err := rules(r); err != nil {
			return err
		}
	}
	return r.enter()
}

// described are the files of a directory above the imports that a bundler reads.
var described = [...]string{"package.json", "tsconfig.json", "jsconfig.json"}

// importRules lets a bundler read in roots, list every directory, since it lists those
// above a file, and read what describes a package above.
func importRules(roots []string) func(*ruleset) error {
	return func(r *ruleset) error {
		if err := r.allow("/", unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
			return err
		}
		above := map[string]bool{}
		for _, root := range roots {
			if !filepath.IsAbs(root) {
				return fmt.Errorf("%s is no absolute path", root)
			}
			info, err := os.Stat(root)
			if err != nil {
				continue
			}
			access := uint64(readsOfFiles)
			if !info.IsDir() {
				access = unix.LANDLOCK_ACCESS_FS_READ_FILE
			}
			if err := r.allow(root, access); err != nil {
				return err
			}
			for _, spelling := range spellings(root) {
				for dir := filepath.Dir(spelling); !above[dir]; dir = filepath.Dir(dir) {
					above[dir] = true
					for _, name := range described {
						if err := r.allow(filepath.Join(dir, name), unix.LANDLOCK_ACCESS_FS_READ_FILE); err != nil {
							return err
						}
					}
				}
			}
		}
		return nil
	}
}

// spellings are a path as it was given and as it really is.
func spellings(path string) []string {
	if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
		return []string{path, real}
	}
	return []string{path}
}
