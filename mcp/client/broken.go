package client

import (
	"bytes"
	"encoding/json"

	"mcpx/internal/fault"
	"mcpx/internal/jsontext"
	"mcpx/mcp"
)

// broken is an answer that came and cannot be read.
type broken struct {
	id   mcp.Raw
	deep bool // it nests too deep
	why  string
}

// brokenAnswers returns the responses in a text which no message was found in: one that is
// not JSON, or too deep, or cut off behind the name of its result, or several in an array.
func brokenAnswers(text []byte) (found []broken) {
	text = bytes.TrimSpace(text)
	if bytes.HasPrefix(text, []byte("[")) {
		for e := range mcp.Elements(text) {
			if bytes.HasPrefix(e, []byte("{")) {
				found = append(found, brokenAnswers(e)...)
			}
		}
		return found
	}
	if !bytes.HasPrefix(text, []byte("{")) {
		return nil
	}
	text = text[:jsontext.Value(text, 0)]
	var f idFinder
	f.write(text)
	if len(f.id) == 0 || f.request || !f.answers {
		return nil
	}
	err := json.Unmarshal(text, new(json.RawMessage))
	if err == nil {
		return nil // what a program logs as JSON
	}
	return []broken{{f.id, f.deepest > jsontext.MaxDepth, err.Error()}}
}

// fault is the error of the call whose answer it is.
func (b broken) fault(server string) *fault.Error {
	const hint = "the call may have taken effect: see whether it did before you repeat it"
	var e *fault.Error
	if b.deep {
		e = fault.Limitf("the answer of %s nests more than %d levels deep, which is not read", server, jsontext.MaxDepth).Hintf("ask for less; %s", hint)
	} else {
		e = fault.Unavailablef("the answer of %s is not JSON: %s", server, b.why).Hintf("the server writes it wrong; %s", hint)
	}
	return e.With("server", server).With("mayHaveRun", true)
}
