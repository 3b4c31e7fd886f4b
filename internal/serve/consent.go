package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"mcpx/internal/api"
	"mcpx/mcp"
)

// consent asks the client whether a call may be made, which asks its user.
type consent struct{ peer api.Peer }

var _ api.Consent = consent{}

// maxShownArguments bounds the arguments in a question; cut stands where they are cut.
const (
	maxShownArguments = 2000
	cut               = "…"
)

// Consent implements api.Consent.
func (c consent) Consent(ctx context.Context, q api.ConsentQuestion) (bool, error) {
	does := "may change something"
	if q.Destructive {
		does = "may destroy something"
	}
	arguments := harmless(string(q.Arguments))
	if strings.HasSuffix(arguments, cut) {
		arguments += fmt.Sprintf(" (%d bytes in all, of which only the first are shown)", len(q.Arguments))
	}
	params := encode(map[string]any{
		"message": fmt.Sprintf("mcpx asks: may the tool %s of the server %s be called? It %s.\nArguments: %s",
			harmless(q.Tool), harmless(q.Server), does, arguments),
		"requestedSchema": json.RawMessage(`{"type":"object","properties":{"allow":{"type":"boolean","title":"Allow this call","default":false}},"required":["allow"]}`),
	})
	answer, err := c.peer.Ask(ctx, mcp.MethodElicitation, params)
	if err != nil {
		if refused, ok := errors.AsType[*mcp.Error](err); ok {
			return false, errors.New(refused.Message)
		}
		return false, err
	}
	var got struct {
		Action  string `json:"action"`
		Content struct {
			Allow bool `json:"allow"`
		} `json:"content"`
	}
	return json.Unmarshal(answer, &got) == nil && got.Action == "accept" && got.Content.Allow, nil
}

// harmless is a text of others on one line, without what would change how the rest reads,
// and cut.
func harmless(text string) string {
	var b strings.Builder
	for _, r := range text {
		if b.Len() >= maxShownArguments {
			b.WriteString(cut)
			break
		}
		if r != ' ' && !unicode.IsPrint(r) {
			r = unicode.ReplacementChar
		}
		b.WriteRune(r)
	}
	return b.String()
}
