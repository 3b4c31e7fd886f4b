package api

import "context"

// Maker makes other forms of scripts.
type Maker interface {
	// Bundle makes one text of a script and the files that it imports. What it may import is
	// what a run of in might; errors in the script are of kind usage.
	Bundle(ctx context.Context, in ExecInput) (*BundleOutput, error)
	// Build makes a program of a script.
	Build(ctx context.Context, in BuildInput) (*BuildOutput, error)
	// Built says what a program holds that Build made.
	Built(ctx context.Context, in BuiltInput) (*BuiltOutput, error)
}

// BundleOutput is a script that needs no other file.
type BundleOutput struct {
	Code string `json:"code"` // JavaScript, with its source map at the end
}

// BuildInput asks for a program. Of Script everything counts that says what is run and what
// it may do.
type BuildInput struct {
	Script ExecInput `json:"script"`
	Output string    `json:"output"` // where the program goes, absolute
	// Config is a configuration file that it carries, absolute; without one it reads those
	// of whoever runs it.
	Config string `json:"config,omitempty"`
	// Target is the file of an mcpx, perhaps for another system, which the program is made
	// of; empty is this one.
	Target string `json:"target,omitempty"`
}

// BuildOutput says what was built.
type BuildOutput struct {
	File string `json:"file"`
	Size int64  `json:"size"`
	BuiltOutput
}

// BuiltInput names a program.
type BuiltInput struct {
	File string `json:"file"` // absolute
}

// BuiltOutput is what a program carries.
type BuiltOutput struct {
	Script      string              `json:"script"`      // the name of its script
	Version     string              `json:"version"`     // of the mcpx that built it
	Digest      string              `json:"digest"`      // sha256 of what it carries
	Permissions string              `json:"permissions"` // the profile of its runs
	Allow       map[string][]string `json:"allow,omitempty"`
	Deny        map[string][]string `json:"deny,omitempty"`
	Config      bool                `json:"config"` // it carries a configuration
}
