package web

import (
	"errors"
	"syscall"

	"golang.org/x/sys/windows"
)

// systemCode returns the name of the system's error in err, empty if there is none.
func systemCode(err error) string {
	var no syscall.Errno
	if !errors.As(err, &no) {
		return ""
	}
	switch no {
	case windows.WSAECONNREFUSED:
		return "ECONNREFUSED"
	case windows.WSAECONNRESET:
		return "ECONNRESET"
	case windows.WSAECONNABORTED:
		return "ECONNABORTED"
	case windows.WSAETIMEDOUT:
		return "ETIMEDOUT"
	case windows.WSAEHOSTUNREACH:
		return "EHOSTUNREACH"
	case windows.WSAENETUNREACH:
		return "ENETUNREACH"
	case windows.WSAEADDRNOTAVAIL:
		return "EADDRNOTAVAIL"
	case windows.WSAEACCES:
		return "EACCES"
	}
	return ""
}
