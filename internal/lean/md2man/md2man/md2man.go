// Package md2man stands in for the one of the same path, which urfave/cli needs for
// App.ToMan, and whose Markdown parser every process of mcpx would initialise (see
// docs/decisions). mcpx does not call ToMan.
package md2man

// Render must not be called: there is no Markdown parser in this build.
func Render([]byte) []byte { panic("md2man: mcpx is built without App.ToMan") }
