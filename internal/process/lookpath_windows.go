package process

import (
	"io/fs"
	"path/filepath"
)

func candidates(file string) []string {
	if filepath.Ext(file) != "" {
		return []string{file}
	}
	return []string{file + ".com", file + ".exe", file + ".bat", file + ".cmd"}
}

func mayExecute(fs.FileInfo) bool { return true }
