//go:build cgo && unix

package suite

// stacksOfC is the memory, in MiB, that a worker may take beyond its limit when the C
// library is linked in: see package sandbox. The program itself is built without.
const stacksOfC = 256
