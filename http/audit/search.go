package audit

import (
	"context"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/domain/field"
	"hostpanel/http/route"
)

const eventsPath = prefix + "events/"

func (s *Area) searchRoutes() []route.Route {
	return []route.Route{
		route.Get(eventsPath, "Search for events, the newest first", s.search).As("audit_events").Caching("no-store").
			Failing(http.StatusBadRequest, "A filter cannot be read.").
			Saying(
				"Events are found up to until_position; a reader follows the log within a second. Administrators of " +
					"a tenant find events of their tenant.",
			).
			Taking(filtersOf(new(audit.Filter))...),
		route.Get(eventsPath+
			"{position:int}/why/", "What led to an event, and what came of it", s.why).As("audit_event_why").Caching("no-store").
			Failing(http.StatusNotFound, "There is no such event, or it is foreign.").
			Saying(
				"The chain goes back to a request, a webhook, a deadline or a command. Of foreign events in it only " +
					"the time is told. Calls to systems outside are shown to superusers.",
			),
		route.Get(prefix+"verify/", "Whether the log is as it was written", s.verified).As("audit_verify").Caching("no-store").
			Saying("It is verified in the background, again and again. For administrators of a tenant checked counts the tenant's events."),
	}
}

// filtersOf are the parameters of a search.
func filtersOf(f *audit.Filter) field.Set {
	return field.Set{
		field.Text("type", &f.Type).Doc("Only events of this type: order.placed."),
		field.Text("stream", &f.Stream).Doc("Only events of this stream: site-12."),
		field.Int("tenant", &f.Tenant).Doc("Only events of this tenant."),
		field.Text("actor", &f.Actor).Doc("Only events by this actor: user:12, operator:1, system:provision."),
		field.UUID("correlation", &f.Correlation).Doc("Only events with this correlation_id."),
		field.Time("recorded_at__gte", &f.From).Doc("Only those of this moment or later."),
		field.Time("recorded_at__lte", &f.To).Doc("Only those of this moment or earlier."),
		field.Int("before", &f.Before).Doc("Only events before this position: the next page."),
	}
}

const (
	searchUsual = 20
	searchMost  = 100
)

func (s *Area) search(ctx context.Context, c route.Call) (*foundEntry, error) {
	f := audit.Filter{Limit: searchUsual}
	if _, err := c.Filter(filtersOf(&f)); err != nil {
		return nil, err
	}
	if size, err := strconv.Atoi(c.Param("page_size")); err == nil && size > 0 {
		f.Limit = min(size, searchMost)
	}
	found, err := s.Lookback.Search(ctx, readerOf(c), f)
	if err != nil {
		return nil, err
	}
	entry := &foundEntry{until: found.Until, events: found.Events}
	if found.Next != 0 {
		next := nextPage(c, found.Next)
		entry.next = &next
	}
	return entry, nil
}

// nextPage is the address of the page before a position, with the other parameters
// as they are.
func nextPage(c route.Call, before int64) string {
	query := url.Values{}
	for name, values := range c.Query {
		query[name] = values
	}
	query.Set("before", strconv.FormatInt(before, 10))
	return c.URL(c.Path) + "?" + query.Encode()
}

// A foundEntry is a page of what a search has found.
type foundEntry struct {
	until  int64
	next   *string
	events []audit.Event
}

// Fields are the page.
func (f *foundEntry) Fields() field.Set {
	return field.Set{
		field.Int("until_position", &f.until).ReadOnly().Doc("Events are found up to this position of the log."),
		field.NullText("next", &f.next).ReadOnly().Doc("The next page; null: this is the last one."),
		field.Objects("results", &f.events),
	}
}

func (s *Area) why(ctx context.Context, c route.Call) (*whyEntry, error) {
	found, err := s.Lookback.Why(ctx, readerOf(c), c.ID("position"))
	entry := &whyEntry{Why: found, root: rootEntry{found.Root}, chain: found.Chain, effects: found.Effects}
	for _, call := range found.Calls {
		entry.calls = append(entry.calls, callEntry{call})
	}
	return entry, err
}

// A whyEntry is what led to an event, and what came of it.
type whyEntry struct {
	audit.Why
	root           rootEntry
	chain, effects []audit.Event
	calls          []callEntry
}

// Fields are the causes and the effects.
func (w *whyEntry) Fields() field.Set {
	return field.Set{
		field.Within("root", true, w.root.Fields).ReadOnly().Doc("Where the chain begins."),
		field.Objects("chain", &w.chain).Doc("The event, what led to it, and so on back."),
		field.Objects("effects", &w.effects).Doc("What followed from the event, in the order of the log; the first 500 of them."),
		field.Flag("is_cut", &w.IsCut).ReadOnly().Doc(
			"Whether more has followed than effects and calls tell; events/ finds it by correlation.",
		),
		field.Objects("calls", &w.calls).Doc("To systems outside."),
		field.Int("until_position", &w.Until).ReadOnly().Doc("Effects are known up to this position of the log."),
	}
}

type rootEntry struct{ audit.Root }

// Fields are the root.
func (r rootEntry) Fields() field.Set {
	id := domain.OrNull(r.ID)
	return field.Set{
		field.Text("kind", &r.Kind).ReadOnly().Doc("request, webhook, deadline or operator."),
		field.NullText("id", &id).ReadOnly(),
	}
}

// A callEntry is a call to a system outside.
type callEntry struct{ audit.Call }

// Fields are the call.
func (e *callEntry) Fields() field.Set {
	return field.Set{
		field.UUID("run", &e.Run).ReadOnly(),
		field.Text("key", &e.Key).ReadOnly(),
		field.Text("step", &e.Step).ReadOnly(),
		field.Text("state", &e.State).ReadOnly().Doc("intended, unknown, absent, confirmed, deferred, skipped, undoing or undone."),
		field.Text("external_id", &e.ExternalID).ReadOnly(),
		field.Time("updated_at", &e.UpdatedAt).ReadOnly(),
	}
}

func (s *Area) verified(ctx context.Context, c route.Call) (*verdictEntry, error) {
	found, err := s.Lookback.Verified(ctx, readerOf(c))
	return &verdictEntry{found}, err
}

// A verdictEntry is what the check of the log has found.
type verdictEntry struct{ audit.Verdict }

// Fields are the verdict.
func (v *verdictEntry) Fields() field.Set {
	status := "ok"
	switch {
	case v.Broken != 0:
		status = "broken"
	case v.Checked == 0 && v.VerifiedAt == nil:
		status = "pending"
	}
	head, hash, broken := domain.OrNull(v.HeadPosition), domain.OrNull(hex.EncodeToString(v.HeadHash)), domain.OrNull(v.Broken)
	return field.Set{
		field.Text("status", &status).Among("ok", "broken", "pending").ReadOnly().
			Doc("`pending` until an event was checked for the first time."),
		field.Int("checked", &v.Checked).ReadOnly().Doc("Events."),
		field.NullInt("head_position", &head).ReadOnly(),
		field.NullText("head_hash", &hash).ReadOnly(),
		field.NullInt("first_broken_position", &broken).ReadOnly(),
		field.NullTime("verified_at", &v.VerifiedAt).ReadOnly().Doc("When the check came to the end of the log; null: never yet."),
	}
}
