package mcptest

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"mcpx/mcp"
)

// subscription is one of subscriptions/listen.
type subscription struct {
	id     mcp.Raw
	filter mcp.Raw
}

// covers reports whether a notification was subscribed to.
func (s *subscription) covers(method string, params mcp.Raw) bool {
	on := func(key string) bool { return string(mcp.Member(s.filter, key)) == "true" }
	switch method {
	case mcp.NotificationToolsListChanged:
		return on("toolsListChanged")
	case mcp.NotificationPromptsListChanged:
		return on("promptsListChanged")
	case mcp.NotificationResourcesListChanged:
		return on("resourcesListChanged")
	case mcp.NotificationResourcesUpdated:
		for uri := range mcp.Elements(mcp.Member(s.filter, "resourceSubscriptions")) {
			if string(uri) == string(mcp.Member(params, "uri")) {
				return true
			}
		}
	}
	return false
}

// listen opens a subscription. It is answered when it ends.
func (s *server) listen(m *mcp.Message) {
	sub := &subscription{m.ID, mcp.Member(m.Params, "notifications")}
	s.mu.Lock()
	s.subscriptions = append(s.subscriptions, sub)
	s.mu.Unlock()
	s.send(&mcp.Message{Method: mcp.NotificationAcknowledged, Params: encode(object{
		"notifications": sub.filter, "_meta": object{mcp.MetaSubscriptionID: sub.id},
	})})
}

// announce tells the client something: on each subscription that covers it in the modern
// era, and as it is in the legacy one.
func (s *server) announce(modern bool, method string, params mcp.Raw) {
	if !modern {
		s.send(&mcp.Message{Method: method, Params: params})
		return
	}
	s.mu.Lock()
	subs := slices.Clone(s.subscriptions)
	s.mu.Unlock()
	for _, sub := range subs {
		if !sub.covers(method, params) {
			continue
		}
		tagged, err := mcp.SetMember(params, "_meta", encode(object{mcp.MetaSubscriptionID: sub.id}))
		if err == nil {
			s.send(&mcp.Message{Method: method, Params: tagged})
		}
	}
}

// relater is a wire on which a message can belong to a request.
type relater interface {
	sendFor(request mcp.Raw, line []byte) error
}

// sendFor sends a message that belongs to a request, if the wire can say so.
func (s *server) sendFor(request mcp.Raw, m *mcp.Message) {
	if w, ok := s.wire.(relater); ok && request != nil {
		_ = w.sendFor(request, m.Encode())
		return
	}
	s.send(m)
}

func (v *visit) sendFor(request mcp.Raw, line []byte) error {
	v.mu.Lock()
	to := v.waiting[mcp.IDKey(request)]
	v.mu.Unlock()
	if to == nil {
		return v.send(line)
	}
	return v.put(to, line)
}

// need is the tool of that name: it asks for input, in as many rounds as it is told, by
// results that are unfinished, and answers with what it was given in each.
func (s *server) need(m *mcp.Message, a arguments) *mcp.Message {
	var state string
	_ = json.Unmarshal(mcp.Member(m.Params, "requestState"), &state)
	var given []json.RawMessage
	_ = json.Unmarshal([]byte(state), &given)
	if answers := mcp.Member(m.Params, "inputResponses"); answers != nil {
		given = append(given, answers)
	} else if state != "" {
		given = append(given, json.RawMessage("null"))
	}
	if len(given) < max(a.Count, 1) {
		r := object{"resultType": mcp.ResultInputRequired, "requestState": string(encode(append([]json.RawMessage{}, given...)))}
		if a.Params != nil {
			r["inputRequests"] = a.Params
		}
		return result(r)
	}
	return result(object{
		"resultType": mcp.ResultComplete,
		"content":    []object{{"type": "text", "text": string(encode(given))}},
	})
}

// questions is the tool "ask" with a count: that many questions, all at once or in turn.
func (s *server) questions(ctx context.Context, id mcp.Raw, a arguments) []json.RawMessage {
	n := max(a.Count, 1)
	answers := make([]json.RawMessage, n)
	ask := func(i int) bool {
		r := s.ask(ctx, id, a.Method, a.Params)
		if r == nil {
			return false
		}
		r.ID = nil
		answers[i] = r.Encode()
		return true
	}
	if !a.Together {
		for i := range n {
			if !ask(i) {
				return nil
			}
		}
		return answers
	}
	done := make(chan bool)
	for i := range n {
		go func() { done <- ask(i) }()
	}
	whole := true
	for range n {
		whole = <-done && whole
	}
	if !whole {
		return nil
	}
	return answers
}

// event is the params of a notification that is sent more than once, with its number.
func event(params mcp.Raw, i int) mcp.Raw {
	if params == nil {
		return nil
	}
	numbered, err := mcp.SetMember(params, "number", mcp.Raw(strconv.Itoa(i)))
	if err != nil {
		return params
	}
	return numbered
}
