package web

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// The history of a record on its page (docs/audit.md). It tells what the audit API tells,
// to those who may call it.

const (
	shownEvents = 20  // of a history, at first
	mostEvents  = 500 // of a history; the API has all
	shownLooks  = 10  // under a history; the API has all
)

// A Lookback reads the log on behalf of callers. What belongs to another tenant, or to
// none, is refused with domain.NotFound unless the caller is a superuser.
type Lookback interface {
	Looks
	// LatestEvents are the last events of a stream, at most so many, oldest first.
	LatestEvents(ctx context.Context, who projections.Caller, stream domain.Stream, most int) (audit.Events, error)
}

// A History is what happened to a record, the latest first.
type History struct {
	Count int64
	Moves []Move
	More  string   // where more of it is shown; blank: nowhere
	Seen  []Aspect // who has looked at it; none: not for this caller
}

// A Move is one event of a history, in words. Mark is its place on the page. Text is the
// sentence of the log, and Fields are what was changed, in the reader's language.
type Move struct {
	At                              Aspect
	Mark, Kind, Text, Fields, Actor string
	Cause                           Aspect // the event that led to it, or that set its deadline; blank: none that is known
}

// Moved is an event in words.
func (w Words) Moved(c route.Call, e *audit.Event) Move {
	return Move{
		At: w.Instant(e.RecordedAt), Mark: markOf(e.Version), Kind: cmp.Or(w["kind_"+e.Type], e.Type), Text: e.Text,
		Actor: w.actor(e.Actor), Cause: w.causeOf(c, e.Cause),
	}
}

// plain is an event in the words of customers. Sentences of the log are English and, but for
// those of billing, those of operators; streams have numbers for programs.
func (w Words) plain(c route.Call, m Move, e *audit.Event) Move {
	switch {
	case e.Type == hosting.Changed{}.EventName():
		_, names, _ := strings.Cut(m.Text, ": ")
		m.Text, m.Fields = "", w.fields(strings.Split(names, ", "))
	case Readers(c) != "en" || !strings.HasPrefix(e.Type, "billing."):
		m.Text = ""
	}
	if m.Cause.Path == "" {
		m.Cause = Aspect{}
	} else {
		m.Cause.Text = w["cause_shown"]
	}
	return m
}

// fields names fields of a record as its form does.
func (w Words) fields(names []string) string {
	labels := make([]string, len(names))
	for i, name := range names {
		labels[i] = cmp.Or(w["label_record_"+name], name)
	}
	return strings.Join(labels, ", ")
}

// markOf is the place of an event on a page that shows the history of its stream.
func markOf(version int) string { return "event-" + strconv.Itoa(version) }

// causeOf names the event behind a cause, and leads to it where a page shows it. A deadline
// leads to the event that has set it.
func (w Words) causeOf(c route.Call, text string) Aspect {
	cause, err := domain.ParseCause(text)
	if err != nil {
		return Aspect{} // it is not shown to this reader
	}
	stream, version, named := cause.Event()
	if !named {
		return Aspect{}
	}
	told := Aspect{Name: w["cause_"+string(cause.Kind())], Text: stream.String() + "/" + strconv.Itoa(version)}
	if page := pageOfStream(c, stream, version); page != "" {
		told.Path = page + "#" + markOf(version)
	}
	return told
}

// pageOfStream is the page that shows an event of a stream to a reader; blank: there is
// none.
func pageOfStream(c route.Call, stream domain.Stream, version int) string {
	all := "?events=" + strconv.Itoa(mostEvents)
	kind, known := hosting.KindNamed(stream.Category)
	switch id, err := strconv.ParseInt(stream.ID, 10, 64); {
	case stream.Category == billing.SubscriptionCategory:
		return SubscriptionsPath + stream.ID + "/" + all
	case stream.Category == order.Category && caller.Of(c).IsSuperuser:
		return OrdersPath + stream.ID + "/?version=" + strconv.Itoa(version)
	case known && kind.HasPages() && err == nil:
		return kind.Page(id) + all
	}
	return ""
}

// actor is who did something: by name, or else by number.
func (w Words) actor(a audit.Actor) string {
	if a.Label != "" {
		return a.Label
	}
	return cmp.Or(w["actor_"+a.Type], a.Type) + " " + a.ID
}

// HistoryOf is the history of a stream, as far as the caller may look back at it; nil:
// not at all.
func (s *Renderer) HistoryOf(ctx context.Context, c route.Call, log Lookback, stream domain.Stream) (*History, error) {
	if !s.Callers.TenantAdmin().Fits(c.Caller) {
		return nil, nil
	}
	most := eventsAsked(c)
	found, err := log.LatestEvents(ctx, caller.Of(c).Reader(), stream, most)
	if domain.CodeOf(err) == domain.NotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w, last := Texts[Readers(c)], len(found.Events)-1
	h := &History{Count: found.Count, Moves: make([]Move, last+1)}
	for i := range found.Events {
		move := w.Moved(c, &found.Events[i])
		if !caller.Of(c).IsSuperuser {
			move = w.plain(c, move, &found.Events[i])
		}
		h.Moves[last-i] = move
	}
	if found.Count > int64(most) && most < mostEvents {
		h.More = "?events=" + strconv.Itoa(min(most*5, mostEvents)) + "#past"
	}
	h.Seen, err = s.SeenBy(ctx, c, log, stream)
	return h, err
}

// Looks tell who has looked at a stream.
type Looks interface {
	// LatestLooks are the last ones at a stream, the latest first.
	LatestLooks(ctx context.Context, who projections.Caller, stream domain.Stream, most int) ([]audit.Look, error)
}

// SeenBy tells superusers who has looked at a stream lately.
func (s *Renderer) SeenBy(ctx context.Context, c route.Call, log Looks, stream domain.Stream) (seen []Aspect, err error) {
	if !caller.Of(c).IsSuperuser {
		return nil, nil
	}
	w := Texts[Readers(c)]
	found, err := log.LatestLooks(ctx, caller.Of(c).Reader(), stream, shownLooks)
	for _, l := range found {
		seen = append(seen, w.Moment(w.actor(l.Actor), &l.LookedAt, ""))
	}
	return seen, err
}

// eventsAsked is how many events of a history are asked for; the usual number, if it
// makes no sense.
func eventsAsked(c route.Call) int {
	n, err := strconv.Atoi(c.Param("events"))
	if err != nil || n < 1 {
		return shownEvents
	}
	return min(n, mostEvents)
}
