//go:build unix && !linux

package client

// atomicWrite is how many bytes a pipe takes whole or not at all.
const atomicWrite = 512
