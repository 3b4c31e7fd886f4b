package mcptest

import (
	"encoding/json"

	"mcpx/mcp"
)

// scripted returns what Answers has for a request; nil is nothing. The answer may depend
// on the page, the address or the name that is asked for: "METHOD WHICH" wins over
// "METHOD". An answer with a code is an error.
func (s *server) scripted(m *mcp.Message) *mcp.Message {
	if s.Answers == nil {
		return nil
	}
	answer := s.Answers[m.Method]
	for _, key := range []string{"cursor", "uri", "name"} {
		var which string
		if json.Unmarshal(mcp.Member(m.Params, key), &which) == nil && which != "" {
			if special := s.Answers[m.Method+" "+which]; special != nil {
				answer = special
			}
		}
	}
	if answer == nil {
		return nil
	}
	var e mcp.Error
	if mcp.Member(answer, "code") != nil && json.Unmarshal(answer, &e) == nil {
		return &mcp.Message{Error: &e}
	}
	if s.modern(m) && mcp.Member(answer, "resultType") == nil {
		if whole, err := mcp.SetMember(answer, "resultType", encode(mcp.ResultComplete)); err == nil {
			answer = whole
		}
	}
	return &mcp.Message{Result: answer}
}
