//go:build unix

package process

import "io/fs"

func candidates(file string) []string { return []string{file} }

func mayExecute(info fs.FileInfo) bool { return info.Mode()&0o111 != 0 }
