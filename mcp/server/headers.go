package server

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"mcpx/mcp"
)

// check holds a modern message against what the revision asks of it, in the order that
// tells a client best what it is missing.
func (e *exchange) check(m *mcp.Message) *mcp.Error {
	header := e.r.Header.Get(headerRevision)
	meta := mcp.Member(m.Params, "_meta")
	raw := mcp.Member(meta, mcp.MetaProtocolVersion)
	unsupported := func(asked mcp.Raw) *mcp.Error {
		err := mcp.Errorf(mcp.CodeUnsupportedVersion, "unsupported protocol version: %s", asked)
		err.Data = encode(object{"supported": mcp.ModernRevisions(), "requested": asked})
		return err
	}
	known := slices.Contains(mcp.ModernRevisions(), header)
	switch {
	case raw == nil && header != "" && !known:
		return unsupported(encode(header))
	case m.Kind() == mcp.Notification:
		return nil
	case raw == nil:
		return mcp.Errorf(mcp.CodeInvalidParams, "_meta lacks %s", mcp.MetaProtocolVersion)
	case header == "":
		return mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s is missing", headerRevision)
	case header != textOf(raw):
		return mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s says %q, and _meta says %s", headerRevision, header, raw)
	case !known:
		return unsupported(raw)
	case !bytes.HasPrefix(mcp.Member(meta, mcp.MetaClientCapabilities), []byte("{")):
		return mcp.Errorf(mcp.CodeInvalidParams, "_meta lacks %s", mcp.MetaClientCapabilities)
	}
	if err := agrees(e.r.Header, headerMethod, encode(m.Method)); err != nil {
		return err
	}
	switch m.Method {
	case mcp.MethodToolsCall, mcp.MethodPromptsGet:
		if err := agrees(e.r.Header, headerName, mcp.Member(m.Params, "name")); err != nil {
			return err
		}
	case mcp.MethodRead:
		if err := agrees(e.r.Header, headerName, mcp.Member(m.Params, "uri")); err != nil {
			return err
		}
	case mcp.MethodTasksGet, mcp.MethodTasksUpdate, mcp.MethodTasksCancel:
		if e.r.Header.Get(headerName) == "" {
			break // it is for those between, and clients of the extension leave it out
		}
		if err := agrees(e.r.Header, headerName, mcp.Member(m.Params, "taskId")); err != nil {
			return err
		}
	}
	if d, ok := e.h.o.Handler.(definer); ok && m.Method == mcp.MethodToolsCall {
		return e.checkArguments(d, m)
	}
	return nil
}

// checkArguments holds the headers that the schema of a tool asks for against its
// arguments.
func (e *exchange) checkArguments(d definer, m *mcp.Message) *mcp.Error {
	definition := d.Definition(e.r.Context(), textOf(mcp.Member(m.Params, "name")))
	arguments := mcp.Member(m.Params, "arguments")
	for property, schema := range mcp.Members(mcp.Member(mcp.Member(definition, "inputSchema"), "properties")) {
		name := textOf(mcp.Member(schema, "x-mcp-header"))
		if name == "" {
			continue
		}
		if err := agrees(e.r.Header, headerParam+name, mcp.Member(arguments, property)); err != nil {
			return err
		}
	}
	return nil
}

// agrees reports how a header differs from the value of the body that it repeats. A value
// that is absent, null or no scalar is repeated by none.
func agrees(header http.Header, name string, value mcp.Raw) *mcp.Error {
	given := header.Values(name)
	want, scalar := scalarText(value)
	switch {
	case !scalar && len(given) == 0:
		return nil
	case !scalar:
		return mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s says %q, and the body has no such value", name, given[0])
	case len(given) == 0:
		return mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s is missing: the body has %s", name, value)
	case len(given) > 1:
		return mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s is there %d times", name, len(given))
	}
	said, err := headerText(given[0])
	if err != nil {
		return mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s is not what it says: %v", name, err)
	}
	if said == want || sameNumber(said, value) {
		return nil
	}
	return mcp.Errorf(mcp.CodeHeaderMismatch, "the header %s says %q, and the body has %s", name, said, value)
}

// scalarText is a text, number or boolean as a header has it.
func scalarText(value mcp.Raw) (text string, ok bool) {
	switch {
	case len(value) == 0 || string(value) == "null" || value[0] == '{' || value[0] == '[':
		return "", false
	case value[0] == '"':
		err := json.Unmarshal(value, &text)
		return text, err == nil
	}
	return string(value), true
}

func sameNumber(said string, value mcp.Raw) bool {
	a, err := strconv.ParseFloat(said, 64)
	if err != nil || value[0] == '"' {
		return false
	}
	b, err := strconv.ParseFloat(string(value), 64)
	return err == nil && a == b
}

// headerText is the value of a header, which holds text that a header cannot hold as
// =?base64?…?=.
func headerText(value string) (string, error) {
	value = strings.Trim(value, " \t")
	inner, ok := strings.CutPrefix(value, "=?base64?")
	if !ok {
		return value, nil
	}
	if inner, ok = strings.CutSuffix(inner, "?="); !ok {
		return value, nil
	}
	text, err := base64.StdEncoding.Strict().DecodeString(inner)
	return string(text), err
}
