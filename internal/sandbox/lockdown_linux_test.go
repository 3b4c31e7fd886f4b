package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attempts are things that a script must not bring about, even if it has taken over its
// process. Each returns nil if it worked. They run in a child.
var attempts = []struct {
	name string
	try  func(scene scene) error
}{
	{"open a file", func(s scene) error { return opened(s.File, unix.O_RDONLY) }},
	{"open a program's own memory", func(scene) error { return opened("/proc/self/maps", unix.O_RDONLY) }},
	{"open a directory", func(s scene) error { return opened(filepath.Dir(s.File), unix.O_RDONLY|unix.O_DIRECTORY) }},
	{"create a file", func(s scene) error { return opened(s.File+".new", unix.O_CREAT|unix.O_WRONLY) }},
	{"write a file", func(s scene) error { return opened(s.File, unix.O_WRONLY) }},
	{"truncate a file", func(s scene) error { return unix.Truncate(s.File, 1) }},
	{"stat a file", func(s scene) error { return unix.Stat(s.File, &unix.Stat_t{}) }},
	{"read a link", func(s scene) error { _, err := unix.Readlink(s.Link, make([]byte, 64)); return err }},
	{"ask for access", func(s scene) error { return unix.Access(s.File, unix.R_OK) }},
	{"make a directory", func(s scene) error { return unix.Mkdir(s.File+".dir", 0o700) }},
	{"make a link", func(s scene) error { return unix.Symlink("/", s.File+".link") }},
	{"remove a file", func(s scene) error { return unix.Unlink(s.Victim) }},
	{"change a mode", func(s scene) error { return unix.Chmod(s.File, 0o666) }},
	{"rename a file", func(s scene) error { return unix.Rename(s.File, s.File+".moved") }},
	{"go elsewhere", func(scene) error { return unix.Chdir("/tmp") }},
	{"tell where it is", func(scene) error { _, err := unix.Getwd(); return err }},
	{"dial TCP", func(s scene) error {
		return dial(unix.AF_INET, unix.SOCK_STREAM, &unix.SockaddrInet4{Port: s.Port, Addr: [4]byte{127, 0, 0, 1}})
	}},
	{"send UDP", func(scene) error {
		return dial(unix.AF_INET, unix.SOCK_DGRAM, &unix.SockaddrInet4{Port: 9, Addr: [4]byte{127, 0, 0, 1}})
	}},
	{"dial a unix socket", func(s scene) error { return dial(unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: s.Socket}) }},
	{"listen", func(scene) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err == nil {
			err = unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
		}
		return err
	}},
	{"ask the kernel by netlink", func(scene) error { _, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, 0); return err }},
	{"make two sockets", func(scene) error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err }},
	{"send a descriptor", func(scene) error {
		return but(unix.Sendmsg(noFile, []byte("x"), unix.UnixRights(2), nil, 0), unix.EBADF)
	}},
	{"receive a descriptor", func(scene) error {
		_, _, _, _, err := unix.Recvmsg(noFile, make([]byte, 1), make([]byte, 64), 0)
		return but(err, unix.EBADF)
	}},
	{"start a program", func(scene) error {
		path, _ := unix.BytePtrFromString("/no/such/program")
		return call(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), 0, 0, unix.ENOENT)
	}},
	{"start a program by descriptor", func(scene) error {
		empty, _ := unix.BytePtrFromString("")
		_, _, errno := unix.RawSyscall6(unix.SYS_EXECVEAT, noFile, uintptr(unsafe.Pointer(empty)), 0, 0, unix.AT_EMPTY_PATH, 0)
		return but(errno, unix.EBADF)
	}},
	{"make a process", func(scene) error {
		// Of flags that no kernel takes for a process, so that there is none if it is let through.
		return call(unix.SYS_CLONE, unix.CLONE_SIGHAND, 0, 0, unix.EINVAL)
	}},
	{"make a thread with a namespace", func(scene) error {
		return call(unix.SYS_CLONE, unix.CLONE_THREAD|unix.CLONE_SIGHAND|unix.CLONE_VM|unix.CLONE_NEWUSER, 0, 0, unix.EINVAL)
	}},
	{"make a process by clone3", func(scene) error { return call(unix.SYS_CLONE3, 0, 0, 0, unix.EINVAL) }},
	{"trace its parent", func(scene) error {
		return call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, uintptr(os.Getppid()), 0, 0)
	}},
	{"read its parent's memory", func(scene) error {
		_, err := unix.ProcessVMReadv(os.Getppid(), nil, nil, 0)
		return err
	}},
	{"signal its parent", func(scene) error { return unix.Kill(os.Getppid(), 0) }},
	{"signal a thread of its parent", func(scene) error { return unix.Tgkill(os.Getppid(), os.Getppid(), 0) }},
	{"signal its group", func(scene) error { return unix.Kill(0, 0) }},
	{"hold a process", func(scene) error { _, err := unix.PidfdOpen(os.Getppid(), 0); return err }},
	{"bound its parent", func(scene) error {
		return unix.Prlimit(os.Getppid(), unix.RLIMIT_CORE, nil, &unix.Rlimit{})
	}},
	{"change its own bounds", func(scene) error {
		return unix.Prlimit(0, unix.RLIMIT_STACK, &unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}, nil)
	}},
	{"filter itself anew", func(scene) error { return call(unix.SYS_SECCOMP, 99, 0, 0, unix.EINVAL) }},
	{"be dumpable", func(scene) error { return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) }},
	{"forget its parent's death", func(scene) error { return unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) }},
	{"leave its group", func(scene) error { return unix.Setpgid(0, 0) }},
	{"be nicer", func(scene) error { return unix.Setpriority(unix.PRIO_PROCESS, 0, 1) }},
	{"have executable memory", func(scene) error {
		_, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
		return err
	}},
	{"make memory executable", func(scene) error {
		page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err == nil {
			err = unix.Mprotect(page, unix.PROT_READ|unix.PROT_EXEC)
		}
		return err
	}},
	{"have a file in memory", func(scene) error { _, err := unix.MemfdCreate("x", 0); return err }},
	{"share memory", func(scene) error { _, err := unix.SysvShmGet(1, 0, 0); return but(err, unix.ENOENT) }},
	{"queue calls to the kernel", func(scene) error { return call(unix.SYS_IO_URING_SETUP, 0, 0, 0, unix.EFAULT) }},
	{"watch files", func(scene) error { _, err := unix.InotifyInit1(0); return err }},
	{"keep keys", func(scene) error {
		_, err := unix.KeyctlInt(unix.KEYCTL_GET_KEYRING_ID, -3, 0, 0, 0)
		return but(err, unix.ENOKEY)
	}},
	{"enter a namespace", func(scene) error { return but(unix.Unshare(unix.CLONE_FS), 0) }},
	{"control a terminal", func(scene) error { _, err := unix.IoctlGetInt(0, unix.TIOCINQ); return err }},
	{"be told of the machine", func(scene) error { return unix.Uname(&unix.Utsname{}) }},
}

// noFile is no descriptor of anybody.
const noFile = 999

// scene is what a child can try itself at.
type scene struct {
	File, Link, Victim, Socket string
	Port                       int
	Roots                      []string
}

func opened(path string, flags int) error {
	fd, err := unix.Open(path, flags, 0o600)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

func dial(family, kind int, to unix.Sockaddr) error {
	fd, err := unix.Socket(family, kind, 0)
	if err == nil {
		err = unix.Connect(fd, to)
	}
	return err
}

// call makes a system call that is senseless but for being made: harmless is the error
// of the kernel's own that says so.
func call(number, a, b, c uintptr, harmless unix.Errno) error {
	_, _, errno := unix.RawSyscall(number, a, b, c)
	return but(errno, harmless)
}

// but returns nil for an error that says that a call was let through.
func but(err error, harmless unix.Errno) error {
	if errors.Is(err, unix.Errno(0)) || harmless != 0 && errors.Is(err, harmless) {
		return nil
	}
	return err
}

// found is what came of the attempts.
type found struct {
	Level   Level
	Missing string
	Worked  []string
	Odd     []string // other errors than EPERM, EACCES and ENOSYS
	Note    string
}

// locked is the life of a child that locks itself as act says and then tries everything.
func locked(act string, socket *os.File) int {
	var s scene
	if err := json.NewDecoder(socket).Decode(&s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	var f found
	switch act {
	case "open":
	case "filtered", "filtered reading": // as in a build with cgo, or before Linux 5.13
		filters := []filter{waiting(), final()}
		if act == "filtered reading" {
			filters = []filter{reading()}
		}
		if err := noNewPrivileges(); err != nil {
			f.Note = err.Error()
		}
		for _, filter := range filters {
			if err := filter.install(); err != nil {
				f.Note = err.Error()
			}
		}
	default:
		l := Lock(act != "waits")
		f.Level, f.Missing = l.Level, l.Missing
		err := l.Limit(1<<30, 1000)
		if err == nil && act == "reads" {
			err = l.Wall(s.Roots)
		}
		if err == nil && act != "walled" {
			err = l.Seal()
		}
		if err != nil {
			f.Note = err.Error()
		}
	}
	for _, a := range attempts {
		switch err := a.try(s); {
		case err == nil:
			f.Worked = append(f.Worked, a.name)
		case !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.ENOSYS):
			f.Odd = append(f.Odd, a.name+": "+err.Error())
		}
	}
	// It must still be able to do its work: allocate, start threads, collect.
	done := make(chan int)
	for range 16 {
		go func() {
			runtime.LockOSThread()
			b := make([]byte, 1<<20)
			for i := range b {
				b[i] = byte(i)
			}
			runtime.GC()
			done <- int(b[77])
		}()
	}
	for range 16 {
		<-done
	}
	if err := json.NewEncoder(socket).Encode(f); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	return 0
}

// newScene makes something to try at, which whoever a child runs as may use.
func newScene(t *testing.T) scene {
	t.Helper()
	dir := forAll(t, 0o777)
	s := scene{File: filepath.Join(dir, "file"), Link: filepath.Join(dir, "link"), Victim: filepath.Join(dir, "victim"), Socket: filepath.Join(dir, "socket")}
	for _, f := range []string{s.File, s.Victim} {
		if err := os.WriteFile(f, []byte("something"), 0o666); err != nil { //nolint:gosec // for another user
			t.Fatal(err)
		}
		_ = os.Chmod(f, 0o666) //nolint:gosec // whatever the umask
	}
	if err := os.Symlink("file", s.Link); err != nil {
		t.Fatal(err)
	}
	// Listeners that accept nobody: the kernel's queue is enough.
	unixFD, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = errors.Join(unix.Bind(unixFD, &unix.SockaddrUnix{Name: s.Socket}), unix.Listen(unixFD, 16), os.Chmod(s.Socket, 0o777)) //nolint:gosec // for another user
	}
	if err != nil {
		t.Fatal(err)
	}
	inetFD, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = errors.Join(unix.Bind(inetFD, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(inetFD, 16))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = unix.Close(unixFD), unix.Close(inetFD) })
	name, err := unix.Getsockname(inetFD)
	if err != nil {
		t.Fatal(err)
	}
	s.Port = name.(*unix.SockaddrInet4).Port //nolint:forcetypeassert // it is one
	return s
}

// try lets a child lock itself and try everything. start starts it with one end of a
// socket.
func try(t *testing.T, s scene, child io.ReadWriter) found {
	t.Helper()
	if err := json.NewEncoder(child).Encode(s); err != nil {
		t.Fatal(err)
	}
	var f found
	if err := json.NewDecoder(child).Decode(&f); err != nil {
		words := ""
		if c, ok := child.(*Child); ok {
			state, w := c.Ended()
			words = fmt.Sprint(state, ": ", w)
		}
		t.Fatalf("the child said nothing: %v; %s", err, words)
	}
	if f.Note != "" {
		t.Errorf("the child could not lock itself: %s", f.Note)
	}
	return f
}

// wanted is the level that this build should reach here.
func wanted(t *testing.T) Level {
	t.Helper()
	_, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	if err != nil || mode < 0 {
		t.Skip("this kernel filters no system calls")
	}
	_, _, cgo := syscall.AllThreadsSyscall(unix.SYS_GETPID, 0, 0, 0)
	return level(errno == 0 && cgo != syscall.ENOTSUP, true)
}

func TestALockedProcessReachesNothing(t *testing.T) {
	t.Parallel()
	for _, act := range []string{"waits", "reads"} {
		t.Run(act, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			f := try(t, s, spawn(t, "lock:"+act))
			if want := wanted(t); f.Level != want {
				t.Errorf("the level is %s (%s), want %s", f.Level, f.Missing, want)
			}
			if f.Level == LevelFull && f.Missing != "" {
				t.Errorf("nothing is missing, and yet: %s", f.Missing)
			}
			if len(f.Worked) > 0 || len(f.Odd) > 0 {
				t.Errorf("a locked process could %s; odd: %s", strings.Join(f.Worked, ", "), strings.Join(f.Odd, ", "))
			}
			for _, path := range []string{s.File, s.Victim} {
				if text, err := os.ReadFile(path); err != nil || string(text) != "something" {
					t.Errorf("%s holds %q, %v", path, text, err)
				}
			}
		})
	}
}

// The attempts are worth something: a process that is not locked succeeds at them.
func TestAnUnlockedProcessReachesMuch(t *testing.T) {
	t.Parallel()
	f := try(t, newScene(t), spawn(t, "lock:open"))
	var failed []string
	for _, a := range attempts {
		if !slices.Contains(f.Worked, a.name) {
			failed = append(failed, a.name)
		}
	}
	// What a container may forbid by itself, or what this very process may not do.
	may := []string{
		"trace its parent", "read its parent's memory", "queue calls to the kernel", "keep keys", "share memory",
		"have a file in memory", "control a terminal", "make a process by clone3", "bound its parent", "hold a process",
		"filter itself anew", "make a thread with a namespace", "enter a namespace", "ask the kernel by netlink",
	}
	if failed = slices.DeleteFunc(failed, func(name string) bool { return slices.Contains(may, name) }); len(failed) > 0 {
		t.Errorf("a process that is not locked could not %s: these attempts show nothing (%v)", strings.Join(failed, ", "), f.Odd)
	}
}

func TestAProcessThatReadsImportsDoesNothingElse(t *testing.T) {
	t.Parallel()
	for _, act := range []string{"walled", "filtered reading"} {
		f := try(t, newScene(t), spawn(t, "lock:"+act))
		want := []string{
			"open a file", "open a program's own memory", "open a directory", "stat a file", "read a link", "tell where it is",
			"change its own bounds", "filter itself anew",
		}
		for _, name := range f.Worked {
			if !slices.Contains(want, name) {
				t.Errorf("%s: a process that reads imports could %s", act, name)
			}
		}
		if !slices.Contains(f.Worked, "open a file") {
			t.Errorf("%s: a process that reads imports could open no file, only %v", act, f.Worked)
		}
	}
}

func TestFiltersAloneLeaveNothing(t *testing.T) {
	t.Parallel()
	wanted(t)
	if f := try(t, newScene(t), spawn(t, "lock:filtered")); len(f.Worked) > 0 || len(f.Odd) > 0 {
		t.Errorf("a filtered process could %s; odd: %s", strings.Join(f.Worked, ", "), strings.Join(f.Odd, ", "))
	}
}

// walled reads files behind a wall around the roots of a scene.
func walled(socket *os.File) int {
	var s struct{ Roots, Files []string }
	if err := json.NewDecoder(socket).Decode(&s); err != nil {
		return 9
	}
	l := Lock(true)
	if err := l.Wall(s.Roots); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	read := func() (got []string) {
		for _, path := range s.Files {
			if _, err := os.ReadFile(path); err == nil {
				got = append(got, path)
			} else if _, err := os.ReadDir(path); err == nil {
				got = append(got, path+"/")
			}
		}
		return got
	}
	first := read()
	if err := l.Seal(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	_ = json.NewEncoder(socket).Encode([][]string{first, read()})
	return 0
}

func TestTheWallLeavesTheRootsAndWhatIsAboveThem(t *testing.T) {
	t.Parallel()
	if wanted(t) != LevelFull {
		t.Skip("there is no Landlock here")
	}
	dir := t.TempDir()
	for _, f := range []string{
		"package.json", "tsconfig.json", "secret.json", "project/package.json", "project/lib.ts", "project/src/a.ts",
		"project/src/deep/b.ts", "project/srcs/x.ts", "one/file.ts", "one/other.ts", "real/c.ts", "real/package.json",
	} {
		path := filepath.Join(dir, f)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"project/src/out": "../../secret.json", "linked": "real"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	in := func(names ...string) []string {
		for i, n := range names {
			if !filepath.IsAbs(n) {
				names[i] = filepath.Join(dir, n)
			}
		}
		return names
	}
	want := in("project/src/a.ts", "project/src/deep/b.ts", "one/file.ts", "linked/c.ts", "project/package.json", "package.json", "tsconfig.json")
	denied := in("project/src/out", "project/lib.ts", "project/srcs/x.ts", "secret.json", "one/other.ts", "/etc/passwd", "/proc/self/environ", "real/nothing")
	c := spawn(t, "wall")
	if err := json.NewEncoder(c).Encode(map[string][]string{
		"Roots": in("project/src", "one/file.ts", "linked", "not/there"),
		"Files": append(append(slices.Clone(want), denied...), dir),
	}); err != nil {
		t.Fatal(err)
	}
	var got [][]string
	if err := json.NewDecoder(c).Decode(&got); err != nil {
		_, words := c.Ended()
		t.Fatal(err, words)
	}
	if want = append(want, dir+"/"); !slices.Equal(got[0], want) {
		t.Errorf("behind the wall it read\n%s\nwant\n%s", strings.Join(got[0], "\n"), strings.Join(want, "\n"))
	}
	if len(got[1]) > 0 {
		t.Errorf("after the seal it read %v", got[1])
	}
}

// outside starts this test binary as a child in other surroundings.
func outside(t *testing.T, act string, change func(*exec.Cmd)) io.ReadWriter {
	t.Helper()
	ours, theirs, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ours.Close() })
	cmd := exec.Command(os.Args[0], "child", act)
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Stderr, cmd.Env = os.Stderr, environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	change(cmd)
	err = cmd.Start()
	_ = theirs.Close()
	if err != nil {
		t.Skipf("no such surroundings here: %v", err)
	}
	t.Cleanup(func() { _, _ = cmd.Process.Kill(), cmd.Wait() })
	return ours
}

func TestTheLockHoldsInAllSurroundings(t *testing.T) {
	t.Parallel()
	root := os.Getuid() == 0
	nobody := &syscall.Credential{Uid: 65534, Gid: 65534}
	for _, tt := range []struct {
		name   string
		root   bool
		change func(t *testing.T, cmd *exec.Cmd)
	}{
		{"an unprivileged user", true, func(t *testing.T, cmd *exec.Cmd) {
			t.Helper()
			cmd.Path, cmd.Dir = copied(t, forAll(t, 0o755)), "/"
			cmd.SysProcAttr.Credential = nobody
		}},
		{"an empty root", true, func(t *testing.T, cmd *exec.Cmd) {
			t.Helper()
			dir := forAll(t, 0o755)
			copied(t, dir)
			cmd.SysProcAttr.Chroot, cmd.Path, cmd.Dir = dir, "/program", "/"
		}},
		{"an empty root and an unprivileged user", true, func(t *testing.T, cmd *exec.Cmd) {
			t.Helper()
			dir := forAll(t, 0o755)
			copied(t, dir)
			cmd.SysProcAttr.Chroot, cmd.Path, cmd.Dir = dir, "/program", "/"
			cmd.SysProcAttr.Credential = nobody
		}},
		{"a user namespace", false, func(_ *testing.T, cmd *exec.Cmd) {
			cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
		}},
		{"a process namespace", true, func(_ *testing.T, cmd *exec.Cmd) { cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWPID }},
	} {
		for _, act := range []string{"waits", "reads"} {
			t.Run(tt.name+" "+act, func(t *testing.T) {
				t.Parallel()
				if tt.root && !root {
					t.Skip("only root can make it")
				}
				if strings.Contains(tt.name, "empty root") && dynamic(t) {
					t.Skip("the test binary is not static; it is with CGO_ENABLED=0")
				}
				f := try(t, newScene(t), outside(t, "lock:"+act, func(cmd *exec.Cmd) { tt.change(t, cmd) }))
				if want := wanted(t); f.Level != want {
					t.Errorf("the level is %s (%s), want %s", f.Level, f.Missing, want)
				}
				var odd []string
				for _, o := range f.Odd {
					if !strings.HasSuffix(o, unix.ENOENT.Error()) { // in an empty root nothing is there
						odd = append(odd, o)
					}
				}
				if len(f.Worked) > 0 || len(odd) > 0 {
					t.Errorf("a locked process could %s; odd: %s", strings.Join(f.Worked, ", "), strings.Join(odd, ", "))
				}
			})
		}
	}
}

// forAll makes a directory that every user finds.
func forAll(t *testing.T, mode os.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, mode)); err != nil { //nolint:gosec // for another user
		t.Fatal(err)
	}
	return dir
}

// copied copies this program to where everybody may run it.
func copied(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "program")
	// Not written here: a child that is forked meanwhile would hold it open for writing.
	if out, err := exec.Command("cp", os.Args[0], path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

func dynamic(t *testing.T) bool {
	t.Helper()
	text, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(text), "ld-linux") && strings.Contains(string(text), "libc.so.6")
}

func TestTheAddressSpaceIsKnownWithoutProc(t *testing.T) {
	t.Parallel()
	var got [2]uint64
	if err := json.NewDecoder(spawn(t, "space")).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if got[0] == 0 || got[1] < got[0] || got[1] > got[0]+80<<20 { // an arena may have been added between
		t.Errorf("the address space is %d by /proc and %d without, want about the same", got[0], got[1])
	}
}

func TestFiltersCatchOtherArchitectures(t *testing.T) {
	t.Parallel()
	if foreignNumbers == 0 {
		t.Skip("there is one set of numbers here")
	}
	state, words := spawn(t, "foreign").Ended()
	if status, ok := state.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGSYS {
		t.Errorf("a call with a foreign number: the child %v, %q, want it killed by SIGSYS", state, words)
	}
}

// bounds are what a process has after it was limited.
type bounds struct {
	Note       string
	CPU, Space unix.Rlimit
	Room       uint64
}

// limitBelow limits a process that was started with less than it is to have, and says what
// it has then.
func limitBelow() (out bounds) {
	const space = 1 << 40
	err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: space, Max: space})
	l := Lock(false)
	out.Room = l.Room
	err = errors.Join(
		err,
		unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: 50, Max: 60}),
		l.Limit(2*space, 1000),
		unix.Prlimit(0, unix.RLIMIT_CPU, nil, &out.CPU),
		unix.Prlimit(0, unix.RLIMIT_AS, nil, &out.Space),
	)
	if err != nil {
		out.Note = err.Error()
	}
	return out
}

// A shell, a supervisor or a container may have set limits that only they can raise.
func TestLimitsThatWereThereBeforeStay(t *testing.T) {
	t.Parallel()
	var has bounds
	if err := json.NewDecoder(spawn(t, "bounded")).Decode(&has); err != nil {
		t.Fatal(err)
	}
	if has.Note != "" || has.CPU != (unix.Rlimit{Cur: 50, Max: 50}) || !raceDetector && has.Space.Max != 1<<40 {
		t.Errorf("the process has %+v", has)
	}
	if !raceDetector && (has.Room == 0 || has.Room >= 1<<40) {
		t.Errorf("the process says that %d bytes are left to it of %d, want some", has.Room, 1<<40)
	}
}

// lockWithout locks a process where the system has not all that it could, as in some
// containers and before Linux 5.13.
func lockWithout(what string) (f found) {
	lacks := newFilter()
	if strings.Contains(what, "seccomp") {
		lacks = lacks.refuse(unix.SYS_SECCOMP, unix.ENOSYS)
	}
	if strings.Contains(what, "landlock") {
		lacks = lacks.refuse(unix.SYS_LANDLOCK_CREATE_RULESET, unix.EOPNOTSUPP)
	}
	if strings.Contains(what, "limits") {
		lacks = lacks.refuse(unix.SYS_PRLIMIT64, unix.EPERM)
	}
	lacks = append(lacks, unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW})
	if what != "signals" { // which are not there for the filter either
		if err := errors.Join(noNewPrivileges(), lacks.install()); err != nil {
			f.Note = err.Error()
			return f
		}
	}
	self, err := os.Executable() // afterwards it cannot be asked any more
	if err != nil {
		f.Note = err.Error()
		return f
	}
	if strings.Contains(what, "signals") {
		if err := unix.Setrlimit(unix.RLIMIT_SIGPENDING, &unix.Rlimit{}); err != nil {
			f.Note = err.Error()
			return f
		}
	}
	l := Lock(true)
	f.Level, f.Missing = l.Level, l.Missing
	if err := errors.Join(l.Limit(1<<30, 100), l.Wall([]string{"/"}), l.Seal()); err != nil {
		f.Note = err.Error()
	}
	if _, err := os.ReadFile(self); err == nil {
		f.Worked = append(f.Worked, "read a file")
	}
	return f
}

func TestWhatTheSystemLacksIsSaid(t *testing.T) {
	t.Parallel()
	full := wanted(t) == LevelFull
	for _, tt := range []struct {
		without string
		want    Level
		missing []string
		reads   bool
	}{
		{"landlock", LevelSeccomp, []string{"landlock: operation not supported"}, false},
		{"seccomp", LevelLandlock, []string{"seccomp: function not implemented"}, false},
		{"limits", LevelFull, []string{"setrlimit: operation not permitted"}, false},
		{"signals", LevelSeccomp, []string{"landlock: too few signals can be queued"}, false},
		{"landlock seccomp", LevelBestEffort, []string{"landlock: operation not supported", "seccomp: function not implemented"}, true},
	} {
		if !full {
			t.Skip("this build or system has no Landlock to be without")
		}
		var f found
		if err := json.NewDecoder(spawn(t, "without "+tt.without)).Decode(&f); err != nil || f.Note != "" {
			t.Fatal(err, f.Note)
		}
		if f.Level != tt.want {
			t.Errorf("without %s the level is %s, want %s", tt.without, f.Level, tt.want)
		}
		for _, m := range tt.missing {
			if !strings.Contains(f.Missing, m) {
				t.Errorf("without %s it says that %q is missing, want %q", tt.without, f.Missing, m)
			}
		}
		if reads := len(f.Worked) > 0; reads != tt.reads {
			t.Errorf("without %s the process could %v", tt.without, f.Worked)
		}
	}
}

func TestLevels(t *testing.T) {
	t.Parallel()
	for want, have := range map[Level][2]bool{
		LevelFull: {true, true}, LevelSeccomp: {false, true}, LevelLandlock: {true, false}, LevelBestEffort: {false, false},
	} {
		if got := level(have[0], have[1]); got != want {
			t.Errorf("level(%v, %v) = %s, want %s", have[0], have[1], got, want)
		}
	}
}

// BenchmarkLock is what the lockdown adds to the start of a worker, and its last step to
// a run.
func BenchmarkLock(b *testing.B) {
	var lock, seal []time.Duration
	for b.Loop() {
		var got timing
		if err := json.NewDecoder(spawn(b, "time")).Decode(&got); err != nil || got.Level == LevelNone {
			b.Fatal(err, got)
		}
		lock, seal = append(lock, got.Lock), append(seal, got.Seal)
	}
	for name, took := range map[string][]time.Duration{"lock-p50-ms": lock, "seal-p50-ms": seal} {
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, name)
	}
}
