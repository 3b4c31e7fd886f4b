package diagnose

import "io/fs"

// The mode of a file says nothing here about who can read it.

func openTo(fs.FileInfo) bool { return false }
func ours(fs.FileInfo) bool   { return true }
