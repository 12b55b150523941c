package audit

import (
	"context"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/audit"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// show makes events readable for a caller. Events of other tenants are left out.
func (s *Service) show(ctx context.Context, who projections.Caller, history []eventstore.RecordedEvent) ([]audit.Event, error) {
	history = owned(who, history)
	sees, err := s.causesSeen(ctx, who, history)
	if err != nil {
		return nil, err
	}
	labels, err := s.labels(ctx, who, history)
	if err != nil {
		return nil, err
	}
	before, err := s.before(ctx, who, history)
	if err != nil {
		return nil, err
	}
	shown := make([]audit.Event, len(history))
	for i, e := range history {
		if shown[i], err = s.event(e); err != nil {
			return nil, err
		}
		shown[i].Actor.Label = labels[e.Metadata.Actor]
		if !sees(e.Metadata.Cause) {
			shown[i].Cause = ""
		}
		shown[i].PrevHash = before[e.Position]
	}
	return shown, nil
}

// before are the hashes of the events before these in their streams, by the
// positions of these. Only those who see everything are told.
func (s *Service) before(ctx context.Context, who projections.Caller, history []eventstore.RecordedEvent) (map[int64][]byte, error) {
	if !who.SeesAll() {
		return nil, nil
	}
	positions := make([]int64, len(history))
	for i, e := range history {
		positions[i] = e.Position
	}
	return s.store.Reader().HashesBefore(ctx, positions)
}

// owned leaves out what belongs to other tenants.
func owned(who projections.Caller, history []eventstore.RecordedEvent) (own []eventstore.RecordedEvent) {
	for _, e := range history {
		if who.SeesTenant(e.Tenant) {
			own = append(own, e)
		}
	}
	return own
}

// event is an event without what depends on the caller.
func (s *Service) event(e eventstore.RecordedEvent) (audit.Event, error) {
	text, data, err := e.Masked()
	return audit.Event{
		Position: e.Position, Stream: e.Stream.String(), Version: e.Version, Type: e.Name, Tenant: e.Tenant,
		Actor: audit.ActorNamed(e.Metadata.Actor), Correlation: e.Metadata.Correlation, Cause: e.Metadata.Cause.String(),
		Request: e.Metadata.Request, RecordedAt: e.RecordedAt, Text: text, Data: data, Erased: e.Erased, Hash: e.Hash,
	}, err
}

// causesSeen tells which causes the caller may know: those that name no stream of
// another owner.
func (s *Service) causesSeen(
	ctx context.Context, who projections.Caller, history []eventstore.RecordedEvent,
) (func(domain.Cause) bool, error) {
	if who.SeesAll() {
		return func(domain.Cause) bool { return true }, nil
	}
	var streams []domain.Stream
	for _, e := range history {
		if stream, _, named := e.Metadata.Cause.Event(); named {
			streams = append(streams, stream)
		}
	}
	own, err := s.store.Reader().StreamsOf(ctx, who.Tenant, streams...)
	return func(c domain.Cause) bool {
		stream, _, named := c.Event()
		return !named || own[stream]
	}, err
}

// labels are the names of those users among the actors whom the caller may know,
// by the actor's stored text.
func (s *Service) labels(ctx context.Context, who projections.Caller, history []eventstore.RecordedEvent) (map[string]string, error) {
	ids := map[int64]bool{}
	for _, e := range history {
		if id := userOf(e.Metadata.Actor); id != 0 {
			ids[id] = true
		}
	}
	names, err := s.tables.For(who).Accounts().UserNames(ctx, ids)
	labels := map[string]string{}
	for _, e := range history {
		labels[e.Metadata.Actor] = names[userOf(e.Metadata.Actor)]
	}
	return labels, err
}

// userOf is the number of the user behind an actor; 0: there is none.
func userOf(actor string) int64 {
	of := audit.ActorNamed(actor)
	id, err := strconv.ParseInt(of.ID, 10, 64)
	if err != nil || of.Type != "user" && of.Type != "operator" {
		return 0
	}
	return id
}
