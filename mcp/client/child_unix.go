//go:build unix

package client

import "syscall"

// TrySend writes one line to the server's standard input if there is room for all of it.
func (c *Child) TrySend(line []byte) bool {
	if len(line) >= atomicWrite || c.direct == nil {
		return false
	}
	line = append(line, '\n')
	sent := false
	err := c.direct.Write(func(fd uintptr) bool {
		n, err := syscall.Write(int(fd), line)
		sent = err == nil && n == len(line)
		return true // or it is left to Send, which waits
	})
	return err == nil && sent
}
