package api

import (
	"fmt"
	"strings"
)

// Page is docs/operations.md: every operation on every surface, as it is declared.
func Page() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Operations")
	line("")
	line("What can be asked of mcpx, wherever it is asked: as a command, over HTTP, or as an MCP tool. This page is made from the")
	line("declarations in `internal/api/operations.go`, and so are the commands, the routes, and `GET /v1/openapi.json`.")
	line("")
	line("The daemon answers on its unix socket, whose mode is 0600, and over TCP if `daemon.port` is set: then every request needs the")
	line("bearer token of the daemon's record, a `Host` that is the daemon's own, and no `Origin` but one that is allowed.")
	line("")
	line("With `GET` and `DELETE` the input stands in the query, else it is a JSON object in the body, as long as the settings")
	line("`http.bodyLimit` and, for what makes calls, `http.callBodyLimit` say. A member that is not known is an error.")
	line("")
	line("Who asks stands in the header `%s`: JSON in base64, at most %d KiB, with `dir`, `session`, `lasting`,", callerHeader, maxCaller>>10)
	line("`pid` and `environ`; without it nobody in particular asks. Settings for the request stand in `%s`, a JSON object such as", settingsHeader)
	line("`{\"pool.callTimeout\": \"5s\"}`. Those of the scope `call` can; see [configuration](configuration.md).")
	line("What the request asks for and does not get is said in the answer, each in a header `%s`.", noticeHeader)
	line("")
	line("An error is `{\"error\": {\"kind\", \"message\", \"hint\", \"details\"}}`, with the status of its kind; see [exit codes](exit-codes.md).")
	line("")
	line("A request that may take questions, sent with `Accept: %s`, is answered with events: `open`, whose `id` is where", eventsType)
	line("answers go; `notify` with what a server says of its own accord; `ask` with a question of it; `withdrawn` for a question that")
	line("nobody waits for any more; and at the end `result` or `error`. With `%s: true` a result that asks for input", unfinishedHeader)
	line("is taken as the result. Whoever closes the connection cancels the call.")
	line("")
	line("| operation | route | command | MCP tool | what it does |")
	line("| --- | --- | --- | --- | --- |")
	for _, o := range table {
		line("| [%s](#%s) | %s | %s | %s | %s |", code(o.Name), o.Name, code(o.Route), code(spelled(o)), code(o.Tool), escaped(o.Summary))
	}
	for _, o := range table {
		line("")
		line("## %s", o.Name)
		line("")
		line("%s.", strings.ToUpper(o.Summary[:1])+o.Summary[1:])
		if fields := o.Fields(); len(fields) > 0 && o.Route != "" {
			line("")
			line("| input | type | | flag | |")
			line("| --- | --- | --- | --- | --- |")
			for _, f := range fields {
				need, flag := "", ""
				if f.Required && f.Kind != Switch {
					need = "required"
				}
				if f.Flag != "" {
					flag = code(strings.TrimSpace("--" + f.Flag + " " + f.Value))
				}
				line("| %s | %s | %s | %s | %s |", code(f.Name), f.Kind, need, flag, escaped(f.Doc))
			}
		}
		if o.streams && o.Name != "events" {
			line("")
			line("It may take questions.")
		}
		if o.Example != "" {
			line("")
			kind := "sh"
			if o.Command == "" {
				kind = "http" // there is a request, and no command
			}
			line("```%s\n%s\n```", kind, o.Example)
		}
	}
	return b.String()
}

// spelled is the command of an operation with what stands behind it.
func spelled(o *Operation) string {
	if o.Command == "" {
		return ""
	}
	return strings.TrimSpace("mcpx " + o.Command + " " + o.Args)
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + escaped(text) + "`"
}

func escaped(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// String names the kind as pages do.
func (k Kind) String() string {
	switch k {
	case Text:
		return "text"
	case Switch:
		return "true or false"
	case Integer:
		return "integer"
	case List:
		return "list of texts"
	case Pairs:
		return "texts by name"
	case Value:
	}
	return "JSON"
}
