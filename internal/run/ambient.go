package run

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"mcpx/engine"
	"mcpx/internal/api"
)

// ambient gathers the facts that surround a script: its worker has an empty environment
// and may not open files.
func ambient(lookup func(string) (string, bool), dir string, args []string, streams api.Streams) engine.Ambient {
	if lookup == nil {
		lookup = func(string) (string, bool) { return "", false }
	}
	a := engine.Ambient{
		Args:     args,
		Cwd:      dir,
		Platform: runtime.GOOS,
		Arch:     runtime.GOARCH,
		Locale:   locale(lookup),
		Columns:  streams.Columns,
		Color:    streams.Color,
	}
	// As Node spells them.
	if a.Platform == "windows" {
		a.Platform = "win32"
	}
	switch a.Arch {
	case "amd64":
		a.Arch = "x64"
	case "386":
		a.Arch = "ia32"
	}
	a.Zone, a.ZoneData = zone(lookup, "/")
	return a
}

// locale makes a BCP 47 tag of the variables that name a POSIX locale, in their order
// of precedence.
func locale(lookup func(string) (string, bool)) string {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		v, _ := lookup(name)
		if v == "" {
			continue
		}
		v, _, _ = strings.Cut(v, ".") // the character set
		v, _, _ = strings.Cut(v, "@") // a variant
		if v == "C" || v == "POSIX" {
			break
		}
		return strings.ReplaceAll(v, "_", "-")
	}
	return "en-US"
}

// zoneDirs are where systems keep time zones.
var zoneDirs = []string{"usr/share/zoneinfo", "usr/share/lib/zoneinfo", "etc/zoneinfo"}

// zone returns the name of the local time zone and its TZif file: those that TZ names,
// else those of /etc/localtime, else UTC. A zone that the machine has no file for keeps
// its name without data; the binary knows most by name.
func zone(lookup func(string) (string, bool), root string) (name string, data []byte) {
	tz, given := lookup("TZ")
	if !given {
		return localtime(root)
	}
	tz = strings.TrimPrefix(tz, ":")
	if tz == "" {
		return "UTC", nil
	}
	if filepath.IsAbs(tz) {
		return zoneName(tz), zoneFile(filepath.Join(root, tz))
	}
	if !filepath.IsLocal(tz) {
		return "UTC", nil
	}
	for _, dir := range zoneDirs {
		if data := zoneFile(filepath.Join(root, dir, tz)); data != nil {
			return tz, data
		}
	}
	return tz, nil
}

func localtime(root string) (name string, data []byte) {
	const file = "etc/localtime"
	data = zoneFile(filepath.Join(root, file))
	if data == nil {
		return "UTC", nil
	}
	target, err := os.Readlink(filepath.Join(root, file))
	if err == nil {
		if name := zoneName(target); name != "" {
			return name, data
		}
	}
	// A copy does not know its name; Debian keeps it beside.
	if b, err := os.ReadFile(filepath.Join(root, "etc/timezone")); err == nil {
		if name := strings.TrimSpace(string(b)); name != "" && !strings.ContainsAny(name, " \n") {
			return name, data
		}
	}
	return "Local", data
}

// zoneName returns the name in the path of a zone's file.
func zoneName(path string) string {
	_, name, _ := strings.Cut(filepath.ToSlash(path), "/zoneinfo/")
	return name
}

// maxZone is more than any zone has.
const maxZone = 64 << 10

// zoneFile reads a TZif file; nil if it is none.
func zoneFile(path string) []byte {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxZone {
		return nil
	}
	data, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(data), "TZif") {
		return nil
	}
	return data
}
