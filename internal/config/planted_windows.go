package config

import "io/fs"

// planted is false: no folder that everybody can write to lies above another.
func planted(_, _ fs.FileInfo) bool { return false }
