package cli

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"mcpx/internal/fault"

	"github.com/urfave/cli/v2"
)

// guide is the folder of the pages that are read from top to bottom.
const guide = "guide"

// docs prints a page of the documentation, or lists the pages.
func (v *invocation) docs(c *cli.Context) error {
	if err := takes(c, 0, 1); err != nil {
		return err
	}
	if c.NArg() == 0 {
		return v.listPages()
	}
	name := c.Args().First()
	if name, ok := v.p.page(name); ok {
		return v.printPage(name)
	}
	return fault.NotFoundf("the documentation has no page %q", name).
		Hintf(`%s"mcpx docs" lists the pages`, didYouMean(name, v.p.pages(), `"mcpx docs %s"`))
}

type pageInfo struct {
	Name  string `json:"name"`
	Title string `json:"title"`
}

func (v *invocation) listPages() error {
	doc := struct {
		Pages []pageInfo `json:"pages"`
	}{[]pageInfo{}}
	for _, name := range v.p.pages() {
		text, err := v.p.pageText(name)
		if err != nil {
			return err
		}
		first, _, _ := strings.Cut(text, "\n")
		doc.Pages = append(doc.Pages, pageInfo{name, strings.TrimPrefix(first, "# ")})
	}
	return v.answer(doc, func() string {
		var guides, others [][2]string
		for _, i := range doc.Pages {
			row := [2]string{i.Name, i.Title}
			if strings.HasPrefix(i.Name, guide) {
				guides = append(guides, row)
			} else {
				others = append(others, row)
			}
		}
		var p page
		p.line("Guides, to be read and pasted:")
		p.rows("  ", guides)
		p.section("Reference")
		p.rows("  ", others)
		p.line("")
		p.line(`"mcpx docs PAGE" prints one, in Markdown.`)
		return p.String()
	})
}

func (v *invocation) printPage(name string) error {
	text, err := v.p.pageText(name)
	if err != nil {
		return err
	}
	doc := struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}{name, text}
	return v.answer(doc, func() string { return clean(text) })
}

// pages are the names of the pages, sorted: "serve", "guide/ci". The one of a folder itself
// has the folder's name.
func (p *Program) pages() []string {
	if p.Pages == nil {
		return nil
	}
	var names []string
	for _, pattern := range []string{"*.md", guide + "/*.md"} {
		files, _ := fs.Glob(p.Pages, pattern)
		for _, f := range files {
			names = append(names, strings.TrimSuffix(strings.TrimSuffix(f, ".md"), "/README"))
		}
	}
	slices.Sort(names)
	return names
}

// page is the name of the page that somebody means, also by a link to it, as pages have them.
func (p *Program) page(asked string) (string, bool) {
	name, _, _ := strings.Cut(asked, "#")
	name = strings.Trim(path.Clean("/"+name), "/")
	name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md"), "/README")
	return name, slices.Contains(p.pages(), name)
}

// pageText is the text of a page, without the lines that only its makers read.
func (p *Program) pageText(name string) (string, error) {
	file := name + ".md"
	if name == guide {
		file = guide + "/README.md"
	}
	text, err := fs.ReadFile(p.Pages, file)
	if err != nil {
		return "", fault.Internalf("reading the page %s: %w", name, err)
	}
	var b strings.Builder
	blank := false
	for line := range strings.Lines(string(text)) {
		bare := strings.TrimSpace(line)
		if strings.HasPrefix(bare, "<!--") && strings.HasSuffix(bare, "-->") || blank && bare == "" {
			continue
		}
		blank = bare == ""
		b.WriteString(line)
	}
	return b.String(), nil
}
