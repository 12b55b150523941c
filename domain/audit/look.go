package audit

import (
	"time"

	"hostpanel/domain/field"
)

// A Look is the first one in an hour that an actor took at a stream.
type Look struct {
	ID       int64
	Stream   string
	Tenant   *int64 // that the stream belongs to; nil: to none
	Actor    Actor
	LookedAt time.Time
}

// Fields are the look.
func (l *Look) Fields() field.Set {
	actor := &l.Actor
	return field.Set{
		field.Int("id", &l.ID).ReadOnly(),
		field.Text("stream", &l.Stream).ReadOnly(),
		field.NullInt("tenant", &l.Tenant).ReadOnly().Doc("That the stream belongs to."),
		field.Within("actor", true, actor.Fields).ReadOnly(),
		field.Time("looked_at", &l.LookedAt).ReadOnly().Doc("The first look of this actor in the hour."),
	}
}
