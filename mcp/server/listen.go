package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"mcpx/mcp"
)

// maxListens is how many subscriptions of modern clients one front holds.
const maxListens = 256

// Filter is what somebody wants to be told of.
type Filter struct {
	Tools, Prompts, Resources bool     // that a list has changed
	URIs                      []string // that one of these resources has
	// Level is the least severe messages of the log that are wanted; empty for none.
	Level string
	Tasks []string // that one of these tasks stands otherwise
}

// maxName is how long the uri of a resource, or the id of a task, may be that a client
// subscribes to.
const maxName = 4 << 10

// Listener is a Provider that has something to say of its own accord.
type Listener interface {
	// Listen has say told what f is about, for c, until ctx is done; say does not wait.
	// It returns when that stands, with what of f there is.
	Listen(ctx context.Context, c Caller, f Filter, say func(method string, params mcp.Raw)) (Filter, error)
}

// Keys of what is held for a legacy client.
const (
	heldLists = "lists"
	heldLog   = "log"
	heldURI   = "uri "
)

// initialized has a legacy client told of what it need not ask for: that lists change.
func (s *Server) initialized(c Caller) {
	cl := c.Client()
	cl.later(func() {
		info, err := s.p.Info(cl.conn.ctx)
		if err != nil {
			return // the requests of the client say why
		}
		f := Filter{
			Tools:     slices.Contains(info.ListChanged, "tools"),
			Prompts:   slices.Contains(info.ListChanged, "prompts"),
			Resources: slices.Contains(info.ListChanged, "resources"),
		}
		if f.Tools || f.Prompts || f.Resources {
			_ = s.hold(c, heldLists, f) // a server that cannot be listened to changes nothing
		}
	})
}

// setLevel has a legacy client told of messages of the log.
func (s *Server) setLevel(ctx context.Context, c Caller) (mcp.Raw, error) {
	info, err := s.p.Info(ctx)
	if err != nil {
		return nil, err
	}
	if _, ok := s.p.(Listener); ok && info.Logs {
		c.Client().drop(heldLog)
		if err := s.hold(c, heldLog, Filter{Level: c.Level()}); err != nil && !errors.Is(err, errHeld) {
			return nil, err
		}
	}
	return mcp.Raw("{}"), nil
}

// hold listens for a legacy client.
func (s *Server) hold(c Caller, key string, f Filter) error {
	l, ok := s.p.(Listener)
	if !ok {
		return NotFound(mcp.MethodSubscribe)
	}
	cl := c.Client()
	return cl.hold(key, func(ctx context.Context) error {
		_, err := l.Listen(ctx, c, f, cl.tell)
		return err
	})
}

// subscribe has a legacy client told of changes of a resource, or no more.
func (s *Server) subscribe(ctx context.Context, c Caller, m *mcp.Message) (mcp.Raw, error) {
	info, err := s.p.Info(ctx)
	if err != nil {
		return nil, err
	}
	if _, ok := s.p.(Listener); !ok || !info.Subscribe {
		return nil, NotFound(m.Method)
	}
	uri := textOf(mcp.Member(m.Params, "uri"))
	if uri == "" {
		return nil, mcp.Errorf(mcp.CodeInvalidParams, "%s needs the uri of a resource", m.Method)
	}
	if err := short(uri); err != nil {
		return nil, err
	}
	if m.Method == mcp.MethodUnsubscribe {
		c.Client().drop(heldURI + uri)
	} else if err := s.hold(c, heldURI+uri, Filter{URIs: []string{uri}}); err != nil && !errors.Is(err, errHeld) {
		return nil, err
	}
	return mcp.Raw("{}"), nil
}

// TakesTasks reports whether a request says that its client takes a task for the result of a
// call, as the extension has it.
func TakesTasks(c Caller) bool {
	declared := mcp.Member(mcp.Member(c.Capabilities(), "extensions"), mcp.ExtensionTasks)
	return c.Era() == mcp.Modern && bytes.HasPrefix(declared, []byte("{"))
}

// NeedsTasks is the error of a request that only such a client may make.
func NeedsTasks() *mcp.Error {
	err := mcp.Errorf(mcp.CodeMissingCapability, "the request does not declare the extension %s, which it is about", mcp.ExtensionTasks)
	err.Data = encode(object{"requiredCapabilities": object{"extensions": object{mcp.ExtensionTasks: object{}}}})
	return err
}

// short refuses names that are longer than any that is remembered for a client.
func short(names ...string) error {
	for _, name := range names {
		if len(name) > maxName {
			return mcp.Errorf(mcp.CodeInvalidParams, "a subscription to a name of %d bytes: it may have %d", len(name), maxName)
		}
	}
	return nil
}

// filter reads what a modern client wants to be told of.
func filter(params mcp.Raw) (Filter, error) {
	var in struct {
		Notifications *struct {
			ToolsListChanged, PromptsListChanged, ResourcesListChanged bool
			ResourceSubscriptions                                      []string
			TaskIDs                                                    []string
		}
	}
	if err := json.Unmarshal(params, &in); err != nil || in.Notifications == nil {
		return Filter{}, mcp.Errorf(mcp.CodeInvalidParams, "%s needs notifications: an object that says which are wanted", mcp.MethodListen)
	}
	n := in.Notifications
	if len(n.ResourceSubscriptions) > maxHeld {
		return Filter{}, mcp.Errorf(mcp.CodeInvalidParams, "%d resources are more than one subscription has: %d", len(n.ResourceSubscriptions), maxHeld)
	}
	if len(n.TaskIDs) > maxHeld {
		return Filter{}, mcp.Errorf(mcp.CodeInvalidParams, "%d tasks are more than one subscription has: %d", len(n.TaskIDs), maxHeld)
	}
	if err := short(slices.Concat(n.ResourceSubscriptions, n.TaskIDs)...); err != nil {
		return Filter{}, err
	}
	return Filter{
		Tools: n.ToolsListChanged, Prompts: n.PromptsListChanged, Resources: n.ResourcesListChanged, URIs: n.ResourceSubscriptions, Tasks: n.TaskIDs,
	}, nil
}

// notifications is a filter as the protocol has it: what is not in it is left out.
func (f Filter) notifications() object {
	o := object{}
	for key, wanted := range map[string]bool{"toolsListChanged": f.Tools, "promptsListChanged": f.Prompts, "resourcesListChanged": f.Resources} {
		if wanted {
			o[key] = true
		}
	}
	if len(f.URIs) > 0 {
		o["resourceSubscriptions"] = f.URIs
	}
	if len(f.Tasks) > 0 {
		o["taskIds"] = f.Tasks
	}
	return o
}

// takes reports whether a notification is one that the filter lets through.
func (f Filter) takes(method string) bool {
	switch method {
	case mcp.NotificationToolsListChanged:
		return f.Tools
	case mcp.NotificationPromptsListChanged:
		return f.Prompts
	case mcp.NotificationResourcesListChanged:
		return f.Resources
	case mcp.NotificationResourcesUpdated:
		return len(f.URIs) > 0
	case mcp.NotificationTask:
		return len(f.Tasks) > 0
	}
	return false
}

// listen tells a modern client what it wants to be told of, for as long as it stays. The
// client is told first what of that there is, and each message bears the request's id.
func (s *Server) listen(ctx context.Context, c Caller, m *mcp.Message) (mcp.Raw, error) {
	l, ok := s.p.(Listener)
	if !ok {
		return nil, NotFound(m.Method)
	}
	want, err := filter(m.Params)
	if err != nil {
		return nil, err
	}
	info, err := s.p.Info(ctx)
	if err != nil {
		return nil, err
	}
	want.Tools = want.Tools && slices.Contains(info.ListChanged, "tools")
	want.Prompts = want.Prompts && slices.Contains(info.ListChanged, "prompts")
	want.Resources = want.Resources && slices.Contains(info.ListChanged, "resources")
	if !info.Subscribe {
		want.URIs = nil
	}
	switch {
	case !info.Tasks:
		want.Tasks = nil
	case len(want.Tasks) > 0 && !TakesTasks(c):
		return nil, NeedsTasks()
	}
	tag := func(params mcp.Raw) mcp.Raw {
		meta := mcp.Member(params, "_meta")
		if len(meta) == 0 || meta[0] != '{' {
			meta = mcp.Raw("{}")
		}
		if meta, err := mcp.SetMember(meta, mcp.MetaSubscriptionID, m.ID); err == nil {
			if params, err := mcp.SetMember(params, "_meta", meta); err == nil {
				return params
			}
		}
		return encode(object{"_meta": object{mcp.MetaSubscriptionID: m.ID}}) // parameters that are no object
	}
	// What comes before the acknowledgement waits for it.
	acknowledged := make(chan struct{})
	out := &feed{start: c.Client().conn.calls.Go, send: func(n *mcp.Message) {
		select {
		case <-acknowledged:
			_ = c.Notify(ctx, n.Method, n.Params) // who is gone misses it
		case <-ctx.Done():
		}
	}}
	defer out.close()
	honoured := Filter{}
	if want.Tools || want.Prompts || want.Resources || len(want.URIs) > 0 || len(want.Tasks) > 0 {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		honoured, err = l.Listen(ctx, c, want, func(method string, params mcp.Raw) {
			if want.takes(method) {
				out.put(method+" "+string(mcp.Member(params, "uri"))+string(mcp.Member(params, "taskId")), &mcp.Message{Method: method, Params: tag(params)})
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if err := c.Notify(ctx, mcp.NotificationAcknowledged, tag(encode(object{"notifications": honoured.notifications()}))); err != nil {
		return nil, err
	}
	close(acknowledged)
	<-ctx.Done()
	return encode(object{"resultType": mcp.ResultComplete, "_meta": object{mcp.MetaSubscriptionID: m.ID}}), nil
}
