package audit

import (
	"context"
	"crypto/sha256"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"hostpanel/http/route"
	"hostpanel/projections"
)

// Transparency serves the tree over all events: what observers fetch of it, and proofs.
// What the tree does not have is refused with domain.NotFound.
type Transparency interface {
	// Checkpoint is the signed checkpoint. False: its quorum of witnesses has not
	// cosigned it.
	Checkpoint(ctx context.Context) (text string, witnessed bool, err error)
	// Tile is a tile or a bundle of entries, by its address below "tile/".
	Tile(ctx context.Context, address string) ([]byte, error)
	// Proof proves that an event is in the log.
	Proof(ctx context.Context, who projections.Caller, position int64) (text string, err error)
}

// LogAccess says who may fetch the tree, beside superusers.
type LogAccess struct {
	Public bool     // any caller
	Tokens []string // bearers of these
}

const (
	logPrefix = "/audit/log/"
	proofType = "text/plain; charset=utf-8"
	tileType  = "application/octet-stream"
	forEver   = "max-age=31536000, immutable"
)

// LogRoutes are the files of the transparency log, as C2SP describes them
// (docs/audit.md).
func (s *Area) LogRoutes() route.Area {
	return route.Area{
		Name: "Transparency log", Prefix: logPrefix, Access: s.observers(),
		About: "The tree over all events, in the form that programs for transparency logs read " +
			"(c2sp.org/tlog-tiles). It has hashes and times only.",
		Routes: []route.Route{
			route.File(logPrefix+
				"checkpoint", "The signed checkpoint", s.checkpoint).As("log_checkpoint").Caching("no-cache").Sending("text/plain", nil).
				Failing(http.StatusNotFound, "Nothing is sealed yet."),
			route.File(logPrefix+
				"tile/entries/{tile:[0-9xp./]+}", "A bundle of entries", s.tile("entries/")).As("log_entries").Caching(s.cache()).
				Sending(tileType, nil).Failing(http.StatusNotFound, "The tree has no such bundle."),
			route.File(logPrefix+"tile/{tile:[0-9]+/[0-9xp./]+}", "A tile of the tree", s.tile("")).As("log_tile").Caching(s.cache()).
				Sending(tileType, nil).Failing(http.StatusNotFound, "The tree has no such tile."),
		},
	}
}

func (s *Area) proofRoutes() []route.Route {
	return []route.Route{
		route.File(prefix+
			"events/{position:int}/proof/", "Prove that an event is in the log",
			s.proof).As("audit_event_proof").Caching("private, no-cache").
			Sending("text/plain", nil).Failing(http.StatusConflict, "The event is not sealed yet. Try again in a second.").
			Saying("A tlog-proof of C2SP: it is checked without the panel."),
	}
}

// cache lets shared caches keep tiles that any caller may fetch.
func (s *Area) cache() string {
	if s.LogAccess.Public {
		return "public, " + forEver
	}
	return "private, " + forEver
}

// observers may fetch the tree.
func (s *Area) observers() route.Access {
	if s.LogAccess.Public {
		return route.Open
	}
	access := s.Callers.Superuser().As("token of an observer, or superuser")
	identify, admit := access.Identify, access.Admit
	access.Identify = func(ctx context.Context, r route.Request) (route.Caller, error) {
		if s.LogAccess.admits(r) {
			return route.Caller{}, nil
		}
		return identify(ctx, r)
	}
	access.Admit = func(ctx context.Context, r route.Request, c route.Caller) error {
		if s.LogAccess.admits(r) {
			return nil
		}
		return admit(ctx, r, c)
	}
	limit := access.Limit
	access.Limit = func(ctx context.Context, r route.Request, c route.Caller) (route.Limit, error) {
		if limit == nil || s.LogAccess.admits(r) {
			return route.Limit{}, nil
		}
		return limit(ctx, r, c)
	}
	return access
}

// admits compares hashes, so that the time it takes tells nothing of the tokens.
func (a LogAccess) admits(r route.Request) bool {
	token, is := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	given := sha256.Sum256([]byte(token))
	return is && slices.ContainsFunc(a.Tokens, func(t string) bool { return sha256.Sum256([]byte(t)) == given })
}

func (s *Area) checkpoint(ctx context.Context, _ route.Call) (*route.Document, error) {
	text, witnessed, err := s.Transparency.Checkpoint(ctx)
	if err != nil {
		return nil, err
	}
	return &route.Document{
		Type: proofType, Body: []byte(text), Header: http.Header{"X-Log-Witnessed": {strconv.FormatBool(witnessed)}},
	}, nil
}

func (s *Area) tile(kind string) func(context.Context, route.Call) (*route.Document, error) {
	return func(ctx context.Context, c route.Call) (*route.Document, error) {
		data, err := s.Transparency.Tile(ctx, kind+c.Var("tile"))
		if err != nil {
			return nil, err
		}
		return &route.Document{Type: tileType, Body: data}, nil
	}
}

func (s *Area) proof(ctx context.Context, c route.Call) (*route.Document, error) {
	position, err := strconv.ParseInt(c.Var("position"), 10, 64)
	if err != nil {
		position = 0 // which no event has
	}
	text, err := s.Transparency.Proof(ctx, readerOf(c), position)
	if err != nil {
		return nil, err
	}
	return &route.Document{
		Type: proofType, Body: []byte(text),
		Header: http.Header{"Content-Disposition": {`attachment; filename="event-` + strconv.FormatInt(position, 10) + `.tlog-proof"`}},
	}, nil
}
