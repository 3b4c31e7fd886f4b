// Package docs holds the pages of this folder for the program, which prints them where there
// is nothing but the program.
package docs

import "embed"

// Pages are the pages that users read, in Markdown. What explains decisions is left out.
//
//go:embed *.md guide/*.md
var Pages embed.FS
