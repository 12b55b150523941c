package audit

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"hostpanel/domain/audit"
	"hostpanel/domain/field"
	"hostpanel/http/route"
)

func (s *Area) stateRoutes() []route.Route {
	return []route.Route{
		route.Get(streamPath+"state/", "A record as it stood at a moment", s.state).As("audit_stream_state").Caching("no-store").
			Taking(field.Time("as_of", new(time.Time)).Doc("As it stood then.")).
			Taking(field.Int("version", new(int64)).Min(1).Doc("As it stood after this event of the stream.")).
			Failing(http.StatusBadRequest, "The moment cannot be read, or both were sent.").
			Failing(http.StatusNotFound, "There is no such stream, or nothing had happened then.").
			Saying(
				"Without either it is the present state. The fields are those of the record in its own API, as far " +
					"as its stream holds them.",
			),
		route.List(streamPath+
			"diff/", "What differs between two moments, field by field", s.diff).As("audit_stream_diff").Caching("no-store").
			Taking(field.Text("from", new(string)).Doc("A version or a time; absent: before the first event.")).
			Taking(field.Text("to", new(string)).Doc("A version or a time; absent: now.")).
			Failing(http.StatusBadRequest, "A moment cannot be read.").
			Failing(http.StatusNotFound, "There is no such stream."),
	}
}

func (s *Area) state(ctx context.Context, c route.Call) (*stateEntry, error) {
	at, err := asked(c)
	if err != nil {
		return nil, err
	}
	found, err := s.Lookback.State(ctx, readerOf(c), streamOf(c), at)
	return &stateEntry{found}, err
}

// asked is the moment that a call names, by a version or by a time.
func asked(c route.Call) (at audit.Moment, err error) {
	var version int64
	_, err = c.Filter(field.Set{field.Time("as_of", &at.Time), field.Int("version", &version).Min(1)})
	at.Version = int(version)
	if err == nil && at.Version != 0 && !at.Time.IsZero() {
		err = field.Errors{{Field: "non_field_errors", Messages: []string{"Send either as_of or version."}}}
	}
	return at, err
}

func (s *Area) diff(ctx context.Context, c route.Call) ([]changeEntry, error) {
	from, err := momentIn(c, "from")
	if err != nil {
		return nil, err
	}
	to, err := momentIn(c, "to")
	if err != nil {
		return nil, err
	}
	found, err := s.Lookback.Diff(ctx, readerOf(c), streamOf(c), from, to)
	changes := make([]changeEntry, len(found))
	for i, one := range found {
		changes[i] = changeEntry{one}
	}
	return changes, err
}

// momentIn reads a parameter that is a version or a time; absent: the zero moment.
func momentIn(c route.Call, name string) (audit.Moment, error) {
	text := c.Param(name)
	if version, err := strconv.Atoi(text); err == nil && version > 0 || text == "" {
		return audit.Moment{Version: version}, nil
	}
	at, ok := field.ParseTime(text)
	if !ok {
		return audit.Moment{}, field.Errors{{Field: name, Messages: []string{"Send a version of 1 or more, or a datetime."}}}
	}
	return audit.Moment{Time: at}, nil
}

// A stateEntry is a record as of a moment.
type stateEntry struct{ audit.State }

// Fields are the state.
func (s *stateEntry) Fields() field.Set {
	version := int64(s.Version)
	return field.Set{
		field.Text("stream", &s.Stream).ReadOnly(),
		field.Int("version", &version).ReadOnly().Doc("Of the last event in it."),
		field.Time("as_of", &s.AsOf).ReadOnly().Doc("The moment that was asked for."),
		field.Time("recorded_at", &s.RecordedAt).ReadOnly().Doc("Of the last event in it."),
		field.Any("state", &s.Record).ReadOnly().Doc("The fields of the record, without secrets. Erased texts are empty or absent."),
		field.Texts("erased", &s.Erased, nil).ReadOnly().Doc("Fields whose texts were erased."),
	}
}

// A changeEntry is a field that differs between two moments.
type changeEntry struct{ audit.Change }

// Fields are the change.
func (e *changeEntry) Fields() field.Set {
	version := int64(e.Version)
	return field.Set{
		field.Text("field", &e.Field).ReadOnly().Doc("Inner fields are named with their path: payments.pay_1.status."),
		field.Any("from", &e.From).OrNull().ReadOnly(),
		field.Any("to", &e.To).OrNull().ReadOnly(),
		field.Int("position", &e.Position).ReadOnly().Doc("Of the event that has changed it last."),
		field.Int("version", &version).ReadOnly().Doc("Of that event in its stream."),
		field.Within("actor", true, e.Actor.Fields).ReadOnly(),
		field.Time("recorded_at", &e.RecordedAt).ReadOnly(),
	}
}
