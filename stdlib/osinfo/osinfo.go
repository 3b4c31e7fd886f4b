// Package osinfo is node:os: what a script is told of the system it runs on. That is what
// the run says (platform, architecture, granted variables) and nothing of the machine: there
// is one processor, memory is what the run may use, names and addresses are constants.
package osinfo

import (
	_ "embed"
	"math"
	goruntime "runtime"
	"runtime/debug"

	"github.com/dop251/goja"

	"mcpx/engine"
	"mcpx/stdlib/internal/native"
)

//go:embed osinfo.d.ts
var declarations string

// Module returns node:os.
func Module() engine.Module {
	return engine.Module{Name: "node:os", Declarations: declarations, Make: exports}
}

// unlimited is the memory of a run that has no limit.
const unlimited = 1 << 30

// total is the memory that the run may use.
func total() int64 {
	if limit := debug.SetMemoryLimit(-1); limit < math.MaxInt64 {
		return limit
	}
	return unlimited
}

func used() int64 {
	var m goruntime.MemStats
	goruntime.ReadMemStats(&m)
	return int64(min(m.HeapInuse, math.MaxInt64)) //nolint:gosec // bounded above
}

func exports(rt *engine.Runtime) *goja.Object {
	vm, ambient := rt.VM(), rt.Ambient()
	o := vm.NewObject()
	windows := ambient.Platform == "win32"
	set := func(name string, length int, value func(c goja.FunctionCall) any) {
		f := native.Func(vm, name, length, func(c goja.FunctionCall) goja.Value { return vm.ToValue(value(c)) })
		// ${os.platform} is a common slip, and harmless in Node.
		text := native.Func(vm, "[Symbol.toPrimitive]", 0, func(goja.FunctionCall) goja.Value { return vm.ToValue(value(goja.FunctionCall{})) })
		if length == 0 {
			native.Must(f.DefineDataPropertySymbol(goja.SymToPrimitive, text, goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE))
		}
		native.Must(o.Set(name, f))
	}
	constant := func(name string, v any) { set(name, 0, func(goja.FunctionCall) any { return v }) }
	// granted is a variable of the environment, if the run has it.
	granted := func(name, fallback string) string {
		process, ok := vm.GlobalObject().Get("process").(*goja.Object)
		if !ok {
			return fallback
		}
		env, ok := process.Get("env").(*goja.Object)
		if !ok {
			return fallback
		}
		if v := env.Get(name); v != nil && v.String() != "" {
			return v.String()
		}
		return fallback
	}
	home := func() string {
		if windows {
			return granted("USERPROFILE", `C:\`)
		}
		return granted("HOME", "/")
	}
	constant("arch", ambient.Arch)
	constant("availableParallelism", 1)
	set("cpus", 0, func(goja.FunctionCall) any {
		times := vm.NewObject()
		for _, name := range []string{"user", "nice", "sys", "idle", "irq"} {
			native.Must(times.Set(name, 0))
		}
		cpu := vm.NewObject()
		native.Must(cpu.Set("model", "unknown"))
		native.Must(cpu.Set("speed", 0))
		native.Must(cpu.Set("times", times))
		return vm.NewArray(cpu)
	})
	constant("endianness", "LE")
	set("freemem", 0, func(goja.FunctionCall) any { return max(total()-used(), 0) })
	set("getPriority", 1, func(goja.FunctionCall) any { return 0 })
	set("homedir", 0, func(goja.FunctionCall) any { return home() })
	constant("hostname", "localhost")
	set("loadavg", 0, func(goja.FunctionCall) any { return vm.NewArray(0, 0, 0) })
	set("networkInterfaces", 0, func(goja.FunctionCall) any { return vm.NewObject() })
	constant("platform", ambient.Platform)
	constant("release", "")
	set("setPriority", 2, func(goja.FunctionCall) any {
		panic(native.Error(vm, "Error", "EACCES", "a script cannot change priorities"))
	})
	set("tmpdir", 0, func(goja.FunctionCall) any {
		if windows {
			return granted("TEMP", `C:\Windows\Temp`)
		}
		return granted("TMPDIR", "/tmp")
	})
	set("totalmem", 0, func(goja.FunctionCall) any { return total() })
	constant("type", map[string]string{"linux": "Linux", "darwin": "Darwin", "win32": "Windows_NT"}[ambient.Platform])
	set("userInfo", 1, func(goja.FunctionCall) any {
		user := vm.CreateObject(nil)
		native.Must(user.Set("uid", -1))
		native.Must(user.Set("gid", -1))
		native.Must(user.Set("username", granted("USER", "unknown")))
		native.Must(user.Set("homedir", home()))
		native.Must(user.Set("shell", goja.Null()))
		return user
	})
	set("uptime", 0, func(goja.FunctionCall) any { return rt.Age().Seconds() })
	constant("version", "")
	machine := ambient.Arch
	switch {
	case machine == "x64":
		machine = "x86_64"
	case machine == "arm64" && ambient.Platform == "linux":
		machine = "aarch64"
	}
	constant("machine", machine)
	native.Lazy(vm, o, "constants", func() goja.Value { return constants(vm) })
	eol, null := "\n", "/dev/null"
	if windows {
		eol, null = "\r\n", `\\.\nul`
	}
	native.Must(o.Set("EOL", eol))
	native.Must(o.Set("devNull", null))
	return o
}

// constants are the numbers of signals and priorities of Linux.
func constants(vm *goja.Runtime) *goja.Object {
	table := func(pairs ...any) *goja.Object {
		o := vm.CreateObject(nil)
		for i := 0; i < len(pairs); i += 2 {
			native.Must(o.Set(pairs[i].(string), pairs[i+1]))
		}
		return o
	}
	signals := vm.CreateObject(nil)
	for i, name := range []string{
		"SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE", "SIGKILL", "SIGUSR1", "SIGSEGV", "SIGUSR2",
		"SIGPIPE", "SIGALRM", "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG",
		"SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF", "SIGWINCH", "SIGIO", "SIGPWR", "SIGSYS",
	} {
		native.Must(signals.Set(name, i+1))
	}
	o := vm.CreateObject(nil)
	native.Must(o.Set("signals", signals))
	native.Must(o.Set("errno", table("EPERM", 1, "ENOENT", 2, "EINTR", 4, "EIO", 5, "EBADF", 9, "EAGAIN", 11, "ENOMEM", 12, "EACCES", 13,
		"EBUSY", 16, "EEXIST", 17, "ENOTDIR", 20, "EISDIR", 21, "EINVAL", 22, "EMFILE", 24, "EFBIG", 27, "ENOSPC", 28, "EROFS", 30, "EPIPE", 32,
		"ENOTEMPTY", 39, "ELOOP", 40, "EADDRINUSE", 98, "ECONNRESET", 104, "ETIMEDOUT", 110, "ECONNREFUSED", 111)))
	native.Must(o.Set("priority", table("PRIORITY_LOW", 19, "PRIORITY_BELOW_NORMAL", 10, "PRIORITY_NORMAL", 0,
		"PRIORITY_ABOVE_NORMAL", -7, "PRIORITY_HIGH", -14, "PRIORITY_HIGHEST", -20)))
	return o
}
