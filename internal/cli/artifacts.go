package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"mcpx/internal/api"
	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// artifacts lists what scripts have kept.
func (v *invocation) artifacts(c *cli.Context) error {
	if err := takes(c, 0, 0); err != nil {
		return err
	}
	out, err := askOf(v, c, PresentDaemon, api.ListArtifacts, api.ArtifactsListInput{})
	if err != nil {
		return err
	}
	return v.answer(out, func() string {
		if len(out.Artifacts) == 0 {
			return "no artifacts\n"
		}
		p := page{columns: v.columns()}
		var rows [][2]string
		for _, a := range out.Artifacts {
			rows = append(rows, [2]string{word(a.ID), artifactLine(a)})
		}
		p.rows("", rows)
		return p.String()
	})
}

func artifactLine(a api.KeptArtifact) string {
	until := "for ever"
	if a.Expires != nil {
		until = "until " + a.Expires.Local().Format(time.DateTime)
	}
	return strings.Join([]string{word(a.Name), plural(a.Size, "byte"), word(a.MIME), until}, "  ")
}

// getArtifact prints an artifact, or writes it to a file.
func (v *invocation) getArtifact(c *cli.Context) error {
	id, err := nameOf(c)
	if err != nil {
		return err
	}
	out, err := askOf(v, c, PresentDaemon, api.GetArtifact, api.ArtifactGetInput{ID: id})
	if err != nil {
		return err
	}
	defer out.Body.Close()
	data, err := interruptible(c.Context, func() ([]byte, error) { return io.ReadAll(out.Body) })
	if err != nil {
		if c.Context.Err() == nil {
			err = fault.Unavailablef("reading the artifact: %w", plain(err))
		}
		return err
	}
	file := c.String("output")
	switch {
	case file != "" && file != "-":
		if err := replaceFile(c.Context, v.path(file), data); err != nil {
			return fault.Usagef("writing %s: %w", file, err).Hintf("%s", v.wayToWrite(file, err))
		}
		return v.answer(struct {
			api.KeptArtifact
			File string `json:"file"`
		}{out.KeptArtifact, file}, func() string { return "" })
	case v.json:
		out.Data = data
		return v.document(out)
	case v.p.Terminal.Stdout && (!utf8.Valid(data) || strings.ContainsRune(string(data), 0)):
		return fault.Usagef("%s is not text: %d bytes%s", out.Name, len(data), ofType(out.MIME)).
			Hintf("write it to a file with -o FILE; --json prints it in base64")
	case v.p.Terminal.Stdout:
		return v.line(string(data))
	}
	_, err = v.stdout.Write(data)
	return err
}

// putArtifact keeps a file, or standard input.
func (v *invocation) putArtifact(c *cli.Context) error {
	name, err := nameOf(c)
	if err != nil {
		return err
	}
	in, err := input[api.ArtifactPutInput](c)
	if err != nil {
		return err
	}
	if name == "-" {
		in.Data, err = v.readStdin(c.Context)
	} else {
		if in.Name == "" {
			in.Name = filepath.Base(name)
		}
		in.Data, err = interruptible(c.Context, func() ([]byte, error) { return os.ReadFile(v.path(name)) })
		if err != nil && c.Context.Err() == nil {
			return fault.NotFoundf("reading %s: %w", name, plain(err)).Hintf("name a file, or - for standard input")
		}
	}
	if err != nil {
		return err
	}
	out, err := askOf(v, c, PresentDaemon, api.PutArtifact, in)
	if err != nil {
		return err
	}
	return v.answer(out, func() string { return word(out.ID) + "\n" })
}

// deleteArtifact deletes one.
func (v *invocation) deleteArtifact(c *cli.Context) error {
	id, err := nameOf(c)
	if err != nil {
		return err
	}
	out, err := askOf(v, c, PresentDaemon, api.DeleteArtifact, api.ArtifactDeleteInput{ID: id})
	if err != nil {
		return err
	}
	return v.answer(out, func() string { return "deleted " + word(out.Name) + "\n" })
}
