package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() {
	// The first process of a container. It starts children that leave children of their own
	// behind, and says how its own ended and how many are left.
	roles["init"] = func() {
		if os.Getpid() != 1 {
			fmt.Println("process", os.Getpid())
			return
		}
		stop := ReapOrphans()
		for i := range 20 {
			p, err := Start(Spec{Path: "/bin/sh", Args: []string{"-c", fmt.Sprintf("setsid sh -c 'sleep 0.0%d' & exit 3", i%10)}, Env: os.Environ()})
			if err != nil {
				fmt.Println(err)
				return
			}
			<-p.Done()
			if p.State() == nil || p.State().ExitCode() != 3 {
				fmt.Println("a child of ours", Ended(p.State()))
			}
		}
		// None is left when nobody is there who could be waited for.
		var err error
		for range 3000 {
			err = unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
			if errors.Is(err, unix.ECHILD) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		stop()
		fmt.Println(err)
	}
}

func TestTheFirstProcessReapsOrphans(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(self(t))
	cmd.Env = append(slices.Clone(os.Environ()), role+"=init")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
	}
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("a namespace of processes is not to be had here: %v", err)
	}
	if got := strings.TrimSpace(string(out)); got != "no child processes" {
		t.Errorf("the first process says %q, want that no child is left", got)
	}
}
