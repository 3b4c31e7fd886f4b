//go:build race

package sandbox

// raceDetector reports whether this program was built with -race.
const raceDetector = true
