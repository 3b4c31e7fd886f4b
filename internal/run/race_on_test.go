//go:build race

package run

// raceDetector reports whether this program was built with -race.
const raceDetector = true
