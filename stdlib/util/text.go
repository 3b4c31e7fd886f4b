package util

import (
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"mcpx/internal/dotenv"
	"mcpx/stdlib/internal/native"
)

var kindsProgram = sync.OnceValue(func() *goja.Program {
	return goja.MustCompile("mcpx:util", "({async: async function () {}, generator: function* () {}})", true)
})

// escapes matches control sequences: those that set something, ended by a letter, and
// those that carry text, ended by a bell or a string terminator.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("[\\x1b\u009b][\\[\\]()#;?]*" +
		"(?:(?:(?:(?:;[-a-zA-Z\\d/#&.:=?%@~_]+)*|[a-zA-Z\\d]+(?:;[-a-zA-Z\\d/#&.:=?%@~_]*)*)?(?:\\x07|\\x1b\\x5c|\u009c))" +
		"|(?:(?:\\d{1,4}(?:;\\d{0,4})*)?[\\dA-PR-TZcf-nq-uy=><~]))")
})

// styleText puts a text between the control sequences of one or more styles.
func (m *module) styleText(c goja.FunctionCall) any {
	vm := m.vm
	text := native.Text(vm, c.Argument(1), "text")
	colors, ok := m.in.Function().Get("colors").(*goja.Object)
	if !ok {
		return text
	}
	styles := []goja.Value{c.Argument(0)}
	if list, ok := c.Argument(0).(*goja.Object); ok && list.ClassName() == "Array" {
		styles = nil
		for _, key := range list.Keys() {
			styles = append(styles, list.Get(key))
		}
	}
	var open, closing string
	for _, style := range styles {
		codes, ok := colors.Get(style.String()).(*goja.Object)
		if _, symbol := style.(*goja.Symbol); symbol || !ok {
			reason := "must be one of: '" + strings.Join(colors.Keys(), "', '") + "'"
			panic(native.InvalidValue(vm, "format", style, reason))
		}
		open += "\x1b[" + codes.Get("0").String() + "m"
		closing = "\x1b[" + codes.Get("1").String() + "m" + closing
	}
	if _, list := c.Argument(0).(*goja.Object); !list && !m.shows(c.Argument(2)) {
		return text // as Node does, which validates the stream for one style only
	}
	return open + text.String() + closing
}

// shows reports whether the stream of the options shows colours, or need not.
func (m *module) shows(options goja.Value) bool {
	if o, ok := options.(*goja.Object); ok {
		if validate := o.Get("validateStream"); validate != nil && !goja.IsUndefined(validate) && !validate.ToBoolean() {
			return true
		}
		if stream, ok := o.Get("stream").(*goja.Object); ok {
			tty := stream.Get("isTTY")
			return tty != nil && tty.ToBoolean() && m.rt.Ambient().Color
		}
	}
	return m.rt.Ambient().Color
}

// systemError is an error number of the operating system.
type systemError struct {
	number        int64
	name, message string
}

// systemErrors are the ones that scripts meet, by the numbers of Linux.
var systemErrors = [...]systemError{
	{-1, "EPERM", "operation not permitted"},
	{-2, "ENOENT", "no such file or directory"},
	{-4, "EINTR", "interrupted system call"},
	{-5, "EIO", "i/o error"},
	{-7, "E2BIG", "argument list too long"},
	{-9, "EBADF", "bad file descriptor"},
	{-11, "EAGAIN", "resource temporarily unavailable"},
	{-12, "ENOMEM", "not enough memory"},
	{-13, "EACCES", "permission denied"},
	{-16, "EBUSY", "resource busy or locked"},
	{-17, "EEXIST", "file already exists"},
	{-18, "EXDEV", "cross-device link not permitted"},
	{-20, "ENOTDIR", "not a directory"},
	{-21, "EISDIR", "illegal operation on a directory"},
	{-22, "EINVAL", "invalid argument"},
	{-23, "ENFILE", "file table overflow"},
	{-24, "EMFILE", "too many open files"},
	{-26, "ETXTBSY", "text file is busy"},
	{-27, "EFBIG", "file too large"},
	{-28, "ENOSPC", "no space left on device"},
	{-30, "EROFS", "read-only file system"},
	{-32, "EPIPE", "broken pipe"},
	{-36, "ENAMETOOLONG", "name too long"},
	{-39, "ENOTEMPTY", "directory not empty"},
	{-40, "ELOOP", "too many symbolic links encountered"},
	{-98, "EADDRINUSE", "address already in use"},
	{-99, "EADDRNOTAVAIL", "address not available"},
	{-101, "ENETUNREACH", "network is unreachable"},
	{-103, "ECONNABORTED", "software caused connection abort"},
	{-104, "ECONNRESET", "connection reset by peer"},
	{-110, "ETIMEDOUT", "connection timed out"},
	{-111, "ECONNREFUSED", "connection refused"},
	{-113, "EHOSTUNREACH", "host is unreachable"},
	{-125, "ECANCELED", "operation canceled"},
	{-4095, "EOF", "end of file"},
}

func (m *module) systemErrorMap() *goja.Object {
	o, err := m.vm.New(m.vm.Get("Map"))
	native.Must(err)
	for _, e := range systemErrors {
		native.Invoke(m.vm, o, "set", m.vm.ToValue(e.number), m.vm.NewArray(e.name, e.message))
	}
	return o
}

// parseEnv reads the text of a .env file.
func (m *module) parseEnv(text string) *goja.Object {
	o := m.vm.NewObject()
	for name, value := range dotenv.Parse(text) {
		native.Must(o.Set(name, value))
	}
	return o
}
