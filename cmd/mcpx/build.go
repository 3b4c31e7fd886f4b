package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mcpx/internal/api"
	"mcpx/internal/carry"
	"mcpx/internal/cli"
	"mcpx/internal/fault"
	"mcpx/internal/grant"
	"mcpx/internal/sandbox"
	"mcpx/internal/store"
)

// cargo is what a program carries that was built of a script.
type cargo struct {
	Version     string              `json:"version"` // of the mcpx that built it
	Name        string              `json:"name"`    // of the script
	Code        string              `json:"code"`
	Permissions string              `json:"permissions"`
	Allow       map[string][]string `json:"allow,omitempty"`
	Deny        map[string][]string `json:"deny,omitempty"`
	Config      *carriedConfig      `json:"config,omitempty"`
}

// carriedConfig is a configuration file that a program carries.
type carriedConfig struct {
	Name string `json:"name"` // without its folder
	Text []byte `json:"text"`
}

func readCargo(payload []byte) (*cargo, error) {
	c := &cargo{}
	if err := json.Unmarshal(payload, c); err != nil {
		return nil, fault.Usagef("this program carries what it cannot read: %w", err).Hintf("build it again")
	}
	if c.Code == "" || c.Permissions == "" {
		return nil, fault.Usagef("this program carries no script").Hintf("build it again")
	}
	return c, nil
}

// aboard returns what this program carries; nil if it is mcpx itself.
func aboard() (*cargo, error) {
	if !carry.Asks() {
		return nil, nil
	}
	self, err := sandbox.Program()
	if err != nil {
		return nil, err
	}
	payload, err := carry.Read(self, carry.Marked())
	if err != nil || payload == nil {
		return nil, err
	}
	return readCargo(payload)
}

// ours reports whether the arguments of this process are for mcpx and not for the script
// that it carries: it was started by its like as a worker or a keeper.
func ours() bool { return !carry.Asks() || sandbox.Started(os.Args[0], os.Environ()) }

// tool is what the command line runs of the cargo.
func (c *cargo) tool() *cli.Tool {
	t := &cli.Tool{Script: api.ExecInput{Name: c.Name, Code: c.Code, Permissions: c.Permissions, Allow: c.Allow, Deny: c.Deny}}
	if c.Config != nil {
		t.Config = filepath.Join(programFolder(), c.Config.Name)
	}
	return t
}

// text is the configuration that the cargo holds; nil if none.
func (c *cargo) text() []byte {
	if c == nil || c.Config == nil {
		return nil
	}
	return append([]byte{}, c.Config.Text...)
}

// programFolder is where this program's file is: what is relative in a configuration that
// it carries counts from there.
func programFolder() string {
	if self, err := os.Executable(); err == nil {
		return filepath.Dir(self)
	}
	if self, err := sandbox.Program(); err == nil {
		return filepath.Dir(self)
	}
	return string(filepath.Separator)
}

// Bundle implements api.Maker.
func (b *backend) Bundle(ctx context.Context, in api.ExecInput) (*api.BundleOutput, error) {
	own, err := b.c.own()
	if err != nil {
		return nil, err
	}
	return own.runner.Bundle(ctx, in)
}

// Build implements api.Maker.
func (b *backend) Build(ctx context.Context, in api.BuildInput) (*api.BuildOutput, error) {
	own, err := b.c.own()
	if err != nil {
		return nil, err
	}
	profile, err := own.runner.Profile(in.Script)
	if err != nil {
		return nil, err
	}
	c := &cargo{Version: version, Name: in.Script.Name, Permissions: profile, Allow: in.Script.Allow, Deny: in.Script.Deny}
	mode := fs.FileMode(0o755)
	if in.Config != "" {
		if info, err := os.Stat(in.Config); err == nil {
			// Whoever may not read the configuration may not read the program.
			readers := info.Mode().Perm() & 0o044
			mode = 0o700 | readers | readers>>2
		}
		text, err := store.ReadFile(in.Config, carry.Max)
		if err != nil {
			return nil, fault.Usagef("reading the configuration to carry: %w", err)
		}
		c.Config = &carriedConfig{Name: filepath.Base(in.Config), Text: text}
	} else if !slices.Contains(grant.Names, profile) {
		return nil, fault.Usagef("the profile %s is one of your configuration, and the program would be run without it", profile).
			Hintf("name a built-in profile and what is allowed besides, or carry the configuration with --config")
	}
	bundle, err := own.runner.Bundle(ctx, in.Script)
	if err != nil {
		return nil, err
	}
	c.Code = bundle.Code
	payload, err := json.Marshal(c)
	if err != nil {
		return nil, fault.Internalf("encoding what the program is to carry: %w", err)
	}
	base := in.Target
	if base == "" {
		if base, err = sandbox.Program(); err != nil {
			return nil, err
		}
	}
	program, err := os.ReadFile(base)
	if err != nil {
		return nil, fault.Usagef("reading the program to build of: %w", err)
	}
	if program, err = carry.Append(program, payload); err != nil {
		return nil, err
	}
	if err := writeProgram(in.Output, program, mode); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(payload)
	return &api.BuildOutput{File: in.Output, Size: int64(len(program)), BuiltOutput: c.output(hex.EncodeToString(sum[:]))}, nil
}

// writeProgram writes a program beside its place and puts it there, so that one that runs
// goes on with its own file. It replaces a program of mcpx and an empty file, nothing else.
func writeProgram(path string, program []byte, mode fs.FileMode) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return fault.Usagef("%s is a directory", path).Hintf("name the program in it, with -o")
	case err == nil && !info.Mode().IsRegular():
		return fault.Usagef("%s is not a regular file", path)
	case err == nil && info.Size() > 0:
		made, err := carry.IsProgram(path)
		if err != nil {
			return fault.Usagef("%s is there, and cannot be read: %w", path, err).Hintf("give another name with -o, or remove the file")
		}
		if !made {
			return fault.Usagef("%s is there, and is no program of mcpx", path).Hintf("give another name with -o, or remove the file")
		}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		return fault.Usagef("there is no directory %s", filepath.Dir(path))
	}
	err = store.WriteFile(path, program, mode)
	var failure *fs.PathError
	switch {
	case errors.As(err, &failure):
		return fault.Usagef("%s cannot be written: %w", path, failure.Err)
	case err != nil:
		return fault.Usagef("%s cannot be written: %w", path, err)
	}
	return nil
}

func (c *cargo) output(digest string) api.BuiltOutput {
	return api.BuiltOutput{
		Script: c.Name, Version: c.Version, Digest: digest,
		Permissions: c.Permissions, Allow: c.Allow, Deny: c.Deny, Config: c.Config != nil,
	}
}

// Built implements api.Maker.
func (b *backend) Built(_ context.Context, in api.BuiltInput) (*api.BuiltOutput, error) {
	payload, digest, err := carry.Inspect(in.File)
	var failure *fs.PathError
	switch {
	case errors.As(err, &failure):
		return nil, fault.NotFoundf("%s cannot be read: %w", in.File, failure.Err)
	case err != nil:
		e := fault.From(err)
		return nil, fault.Usagef("%s: %s", in.File, strings.TrimPrefix(e.Message, "this program is ")).Hintf("%s", e.Hint)
	case payload == nil:
		return nil, fault.Usagef("%s carries no script", in.File).Hintf(`"mcpx build" makes a program that does`)
	}
	c, err := readCargo(payload)
	if err != nil {
		return nil, err
	}
	out := c.output(digest)
	return &out, nil
}
