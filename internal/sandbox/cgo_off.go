//go:build !cgo

package sandbox

// throughC says that the C library may be linked in, which starts the threads then: each
// reserves a stack, and an arena for malloc.
const throughC = false
