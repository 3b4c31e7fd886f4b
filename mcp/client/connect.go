package client

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"mcpx/internal/fault"
	"mcpx/mcp"
)

const defaultProbeTimeout = 2 * time.Second

// Connect settles with the server behind t which revision to speak. It first asks the
// modern way; a server that does not answer that within ProbeTimeout, or not with a
// modern revision that this package speaks, is asked the legacy way. Over HTTP it is the
// other way round: there a refusal comes at once, and says what it is about.
//
// The session owns t; if Connect fails, t is closed. How long the server may take is
// up to ctx. The error's kind is Unavailable, or ctx's cause.
func Connect(ctx context.Context, t Transport, o Options) (*Session, error) {
	if o.ProbeTimeout <= 0 {
		o.ProbeTimeout = defaultProbeTimeout
	}
	h := &handshake{o: &o, conn: newConn(t, &o)}
	s, err := h.run(ctx)
	if err != nil && h.probed && o.Restart != nil && ctx.Err() == nil {
		h.conn.close()
		t, restartErr := o.Restart(ctx)
		if restartErr != nil {
			return nil, restartErr
		}
		h = &handshake{o: &o, conn: newConn(t, &o)}
		s, err = h.initialize(ctx, nil)
	}
	if err != nil {
		older := o.Fallback != nil && speaksOlder(err) && ctx.Err() == nil
		err = h.explain(ctx, err)
		h.conn.close()
		if older {
			return fallBack(ctx, &o, err)
		}
		return nil, err
	}
	return s, nil
}

// fallBack opens a session over the older transport. If that cannot be had, the
// refusal of the newer one is what counts.
func fallBack(ctx context.Context, o *Options, refusal error) (*Session, error) {
	t, err := o.Fallback(ctx)
	if err != nil {
		e := fault.New(fault.KindOf(refusal), "%w; HTTP+SSE was tried as well: %s", refusal, fault.From(err).Message)
		return nil, e
	}
	h := &handshake{o: o, conn: newConn(t, o)}
	s, err := h.initialize(ctx, nil)
	if err != nil {
		err = h.explain(ctx, err)
		h.conn.close()
		return nil, err
	}
	return s, nil
}

// handshake is the opening of one connection.
type handshake struct {
	o      *Options
	conn   *conn
	probed bool // the server got a request that a legacy one does not know
}

func (h *handshake) run(ctx context.Context) (*Session, error) {
	remote := overHTTP(h.conn.t)
	var legacy error
	if h.o.Era == mcp.Legacy || remote && h.o.Era == mcp.Unknown {
		var s *Session
		var refused *mcp.Error
		if s, legacy = h.initialize(ctx, nil); legacy == nil || !errors.As(legacy, &refused) {
			return s, legacy
		}
		// It was a legacy server once, or never.
	}
	h.probed = true
	s, late, err := h.discover(ctx)
	switch {
	case s != nil:
		return s, nil
	case remote && legacy != nil: // what it said to initialize counts, and need not be heard again
		if late != nil {
			h.conn.giveUp(late, nil)
		}
		return nil, legacy
	case err != nil:
		return nil, err
	}
	return h.initialize(ctx, late)
}

// overHTTP reports whether a transport is one of those that make requests.
func overHTTP(t Transport) bool {
	_, ok := t.(forgetter)
	return ok
}

// discover asks a server whether it is modern. If it has not answered in time, the
// call is returned: its answer may still come.
func (h *handshake) discover(ctx context.Context) (s *Session, late *call, err error) {
	probe, cancel := context.WithTimeout(ctx, h.o.ProbeTimeout)
	defer cancel()
	tried := []string{}
	again := true // a revision that was refused and is offered all the same is asked for once more
	for revision := mcp.ModernRevisions()[0]; revision != ""; {
		tried = append(tried, revision)
		_, meta, err := h.o.modernMeta(revision)
		if err != nil {
			return nil, nil, err // the capabilities of the options
		}
		k := h.conn.begin(mcp.MethodDiscover, parameters{meta: meta}, CallOptions{})
		if k == nil {
			return nil, nil, h.conn.ended()
		}
		select {
		case r := <-k.reply:
			if s := h.modern(r); s != nil {
				return s, nil, nil
			}
			var refused *mcp.Error
			if r.err != nil && !errors.As(r.err, &refused) && refusesAll(status(r.err)) {
				return nil, nil, r.err
			}
			revision = ""
			if refused != nil && refused.Code == mcp.CodeUnsupportedVersion {
				offered := texts(mcp.Member(refused.Data, "supported"))
				if revision = pick(mcp.ModernRevisions(), offered, tried); revision == "" && again {
					revision, again = pick(mcp.ModernRevisions(), offered, nil), false
				}
			}
		case <-probe.Done():
			if ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
			return nil, k, nil
		}
	}
	return nil, nil, nil
}

// modern returns a session if a reply to server/discover names a modern revision that
// this package speaks. Some servers answer {} to anything.
func (h *handshake) modern(r reply) *Session {
	if r.err != nil {
		return nil
	}
	result := r.result.Raw()
	revision := pick(mcp.ModernRevisions(), texts(mcp.Member(result, "supportedVersions")), nil)
	if revision == "" {
		return nil
	}
	meta, whole, err := h.o.modernMeta(revision)
	if err != nil {
		return nil // it was made for the request as well
	}
	s := h.session(mcp.Modern, revision, result)
	s.serverInfo = object(mcp.Member(mcp.Member(result, "_meta"), mcp.MetaServerInfo))
	s.meta, s.whole = meta, whole
	h.settle(s)
	return s
}

// settle tells a transport that wants to know what the session speaks.
func (h *handshake) settle(s *Session) {
	if t, ok := h.conn.t.(settler); ok {
		t.Settled(s.era, s.revision)
	}
}

// initialize opens a legacy session. A server that refuses the newest revision gets
// those that its error names, or else the older ones in turn.
//
// If late is not nil and says meanwhile that the server is modern, and the server does
// not open a legacy session as well, the session is modern.
func (h *handshake) initialize(ctx context.Context, late *call) (*Session, error) {
	if late != nil {
		defer h.conn.giveUp(late, nil)
	}
	var first error
	for revision, tried := mcp.LegacyRevisions()[0], []string(nil); revision != ""; {
		tried = append(tried, revision)
		k := h.conn.begin(mcp.MethodInitialize, parameters{of: checked(map[string]any{
			"protocolVersion": revision, "capabilities": h.o.capabilities(), "clientInfo": h.o.clientInfo(),
		})}, CallOptions{})
		if k == nil {
			return nil, h.conn.ended()
		}
		r, s, err := h.await(ctx, k, late)
		if s != nil || err != nil {
			return s, err
		}
		if r.err == nil {
			return h.legacy(revision, r.result.Raw())
		}
		if first == nil {
			first = r.err
		}
		var refused *mcp.Error
		if !errors.As(r.err, &refused) {
			return nil, r.err
		}
		revision = next(tried, refused)
	}
	return nil, first
}

// await waits for the reply to an initialize. A session comes back instead if late
// shows a modern server that refuses initialize, or leaves it unanswered.
func (h *handshake) await(ctx context.Context, k, late *call) (reply, *Session, error) {
	var fromLate chan reply
	if late != nil {
		fromLate = late.reply
	}
	var modern *Session
	var patience <-chan time.Time
	for {
		select {
		case r := <-fromLate:
			fromLate = nil
			if modern = h.modern(r); modern != nil {
				patience = time.After(h.o.ProbeTimeout)
			}
		case <-patience:
			h.conn.giveUp(k, nil)
			return reply{}, modern, nil
		case r := <-k.reply:
			if r.err == nil {
				return r, nil, nil
			}
			select {
			case l := <-fromLate:
				modern = h.modern(l)
			default:
			}
			return r, modern, nil
		case <-ctx.Done():
			return reply{}, nil, context.Cause(ctx)
		}
	}
}

// legacy returns the session that a result of initialize opens. Whatever the server
// leaves out counts as what was asked for, or as nothing; but it must be an object.
func (h *handshake) legacy(asked string, result mcp.Raw) (*Session, error) {
	if object(result) == nil {
		return nil, fault.Unavailablef("%s does not speak MCP: its answer to initialize is %w: %s", h.conn.name, errNotObject, brief(result)).
			With("server", h.conn.name).
			Hintf("see whether its entry %s", h.right())
	}
	revision := text(mcp.Member(result, "protocolVersion"))
	if revision == "" {
		revision = asked
	}
	s := h.session(mcp.Legacy, revision, result)
	s.serverInfo = object(mcp.Member(result, "serverInfo"))
	h.settle(s)
	if err := h.conn.notify(mcp.NotificationInitialized, parameters{}); err != nil {
		return nil, err
	}
	return s, nil
}

func (h *handshake) session(era mcp.Era, revision string, result mcp.Raw) *Session {
	s := &Session{
		conn: h.conn, era: era, revision: revision,
		instructions: text(mcp.Member(result, "instructions")),
		capabilities: object(mcp.Member(result, "capabilities")),
	}
	h.conn.session.Store(s)
	return s
}

// next returns the revision to try after a refusal: one that the error names, or the
// newest of the rest if the error is about revisions at all; "" if there is none.
func next(tried []string, refused *mcp.Error) string {
	if offered := texts(mcp.Member(refused.Data, "supported")); refused.Code == mcp.CodeHeaderMismatch ||
		len(offered) > 0 && pick(mcp.LegacyRevisions(), offered, nil) == "" {
		return "" // a modern server
	}
	said := refused.Message + " " + string(refused.Data)
	about := refused.Code == mcp.CodeUnsupportedVersion ||
		strings.Contains(strings.ToLower(said), "version") || strings.Contains(strings.ToLower(said), "protocol")
	other := ""
	for _, r := range mcp.LegacyRevisions() {
		switch {
		case slices.Contains(tried, r):
		case strings.Contains(said, r):
			return r
		case about && other == "":
			other = r
		}
	}
	return other
}

// pick returns the first of ours that is offered and not tried yet, or "".
func pick(ours, offered, tried []string) string {
	for _, r := range ours {
		if slices.Contains(offered, r) && !slices.Contains(tried, r) {
			return r
		}
	}
	return ""
}

// texts returns the strings of a JSON array.
func texts(array mcp.Raw) []string {
	var list []string
	for e := range mcp.Elements(array) {
		if s := text(e); s != "" {
			list = append(list, s)
		}
	}
	return list
}

// explain says why no session came about, with what the server said meanwhile.
func (h *handshake) explain(ctx context.Context, err error) error {
	var refused *mcp.Error
	var e *fault.Error
	switch {
	case errors.As(err, &refused):
		e = fault.Unavailablef("%s refused to open a session: %w", h.conn.name, refused).With("server", h.conn.name).
			Hintf("give it what it asks for in its entry: %s", h.means())
	case ctx.Err() != nil:
		cause := context.Cause(ctx)
		if errors.Is(cause, context.Canceled) {
			return cause
		}
		var limit *fault.Error // whoever set the limit may have said what it is
		if !errors.As(cause, &limit) {
			limit = fault.Timeoutf("%s did not open a session in time: %w", h.conn.name, cause).With("server", h.conn.name)
		}
		e = fault.New(limit.Kind, "%w", limit)
	case errors.Is(err, errEcho):
		e = fault.Unavailablef("%s does not speak MCP: %w", h.conn.name, errEcho).With("server", h.conn.name).
			Hintf("see whether its entry %s", h.right())
	case errors.Is(err, errNotObject):
		e = fault.From(err)
	case h.conn.ended() != nil:
		base := fault.From(h.conn.ended())
		return withSaid(fault.New(base.Kind, "%w while it was starting", base).With("mayHaveRun", false).
			Hintf("a server that starts well stays and waits for input"))
	default:
		if !errors.As(err, &e) {
			return err
		}
		// It is about this request alone, over HTTP, and nothing that could have an effect
		// was asked for yet.
		e = fault.New(e.Kind, "%w", err).With("mayHaveRun", false)
		if plain, ok := strings.CutSuffix(e.Message, perhaps); ok {
			e.Message = plain
			e.Hintf("see whether its entry %s", h.right())
		}
		return e
	}
	if s, ok := h.conn.t.(speaker); ok {
		e = s.Said().quote(e)
	}
	return withSaid(e.With("mayHaveRun", false))
}

// means is how an entry gives a server something.
func (h *handshake) means() string {
	if overHTTP(h.conn.t) {
		return "a token in headers, a parameter in url"
	}
	return "a token in env, an argument in args"
}

// right is what is right about an entry that leads to an MCP server.
func (h *handshake) right() string {
	if overHTTP(h.conn.t) {
		return "has the url of an MCP server"
	}
	return "starts the right program, with the arguments that make it an MCP server"
}
