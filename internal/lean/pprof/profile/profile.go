// Package profile stands in for the one of the same path, of which goja needs the types
// below for StartProfile, and whose package initialisation every process of mcpx would
// pay for (see docs/decisions). mcpx does not profile scripts.
package profile

import (
	"errors"
	"io"
)

// Profile and the types below have the fields that goja sets.
type Profile struct {
	SampleType []*ValueType
	Sample     []*Sample
	Mapping    []*Mapping
	Location   []*Location
	Function   []*Function
	PeriodType *ValueType
	Period     int64

	TimeNanos, DurationNanos int64
}

// Write reports that there is no profile to write.
func (*Profile) Write(io.Writer) error {
	return errors.New("mcpx is built without profiles of scripts")
}

// ValueType says what a value of a sample is.
type ValueType struct{ Type, Unit string }

// Sample is how often, and for how long, a stack was seen.
type Sample struct {
	Location []*Location
	Value    []int64
}

// Mapping is a file of code.
type Mapping struct {
	ID   uint64
	File string
}

// Location is a place in the code.
type Location struct {
	ID      uint64
	Mapping *Mapping
	Line    []Line
}

// Line is a line of a function.
type Line struct {
	Function *Function
	Line     int64
}

// Function is a function of the code.
type Function struct {
	ID             uint64
	Name, Filename string
}
