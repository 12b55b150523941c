package projections

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/eventstore"
)

// happens notifies a user or acts as one, or a few such things in one
// transaction. What is refused has not happened.
func (p *panel) happens(t *testing.T, chance *rand.Rand, users []int64) {
	t.Helper()
	user := users[chance.IntN(len(users))]
	known := p.byHand(t, user)
	var commands []domain.Command
	used := map[uuid.UUID]bool{}
	for range 1 + chance.IntN(3) {
		id := uuid.New()
		if len(known) > 0 && chance.IntN(3) > 0 {
			id = known[chance.IntN(len(known))].id
		}
		if used[id] {
			continue
		}
		used[id] = true
		commands = append(commands, p.anything(t, chance, user, id, known))
	}
	if err := p.try(t, commands...); err != nil && domain.CodeOf(err) != domain.NotFound {
		t.Fatal(err)
	}
	p.figuresHold(t, user, p.byHand(t, user))
}

func (p *panel) anything(t *testing.T, chance *rand.Rand, user int64, id uuid.UUID, known []byHand) domain.Command {
	t.Helper()
	i := slices.IndexFunc(known, func(n byHand) bool { return n.id == id })
	switch n := chance.IntN(10); {
	case i < 0:
		return notice.Raise{
			ID: id, User: user, InApp: chance.IntN(8) > 0, Mail: chance.IntN(2) == 0,
			Text: notice.Text{Type: notice.Info, Title: "News", URL: "/"}, At: noon,
		}
	case n < 3:
		return notice.MarkRead{ID: id, At: noon}
	case n < 6:
		return notice.Unread{ID: id, WithAll: known[i].read}
	case n == 6:
		return notice.Delete{ID: id}
	case n == 7:
		return notice.ConfirmMail{ID: id, At: noon}
	case n == 8: // as of some time ago
		return notice.MarkAllRead{User: user, Through: known[i].since}
	default:
		unread, err := p.For(Caller{User: user}).Notices().Unread(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return notice.MarkAllRead{User: user, Through: unread.Through}
	}
}

// byHand is a notification as the log tells of it.
type byHand struct {
	id        uuid.UUID
	user      int64
	raised    time.Time
	since     time.Time // unread since then
	readAlone bool
	read      bool // alone or with all others
}

// byHand reads the whole log for what a user has, the newest first.
func (p *panel) byHand(t *testing.T, user int64) (all []byHand) {
	t.Helper()
	found, through := map[string]*byHand{}, time.Time{}
	if err := p.Reader().Replay(t.Context(), 0, func(r eventstore.RecordedEvent) error {
		n := found[r.Stream.ID]
		switch e := r.Event.(type) {
		case notice.Raised:
			found[r.Stream.ID] = &byHand{id: uuid.MustParse(r.Stream.ID), user: e.User, raised: r.RecordedAt, since: r.RecordedAt}
		case notice.Read:
			n.readAlone = true
		case notice.MarkedUnread:
			n.readAlone, n.since = false, r.RecordedAt
		case notice.Deleted:
			delete(found, r.Stream.ID)
		case notice.AllRead:
			if r.Stream.ID == numbered(user) {
				through = e.Through
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, n := range found {
		if n.read = n.readAlone || !n.since.After(through); n.user == user {
			all = append(all, *n)
		}
	}
	slices.SortFunc(all, func(a, b byHand) int {
		if c := b.raised.Compare(a.raised); c != 0 {
			return c
		}
		return slices.Compare(b.id[:], a.id[:])
	})
	return all
}

// figuresHold holds the figures against notifications that were found by hand.
func (p *panel) figuresHold(t *testing.T, user int64, all []byHand) {
	t.Helper()
	count, newest := int64(0), time.Time{}
	for _, n := range all {
		if !n.read {
			count++
			newest = slices.MaxFunc([]time.Time{newest, n.since}, time.Time.Compare)
		}
	}
	if found, err := p.For(Caller{User: user}).Notices().Unread(t.Context()); err != nil || found.Count != count ||
		!found.Through.Equal(newest) {
		t.Fatalf("user %d: %+v %v, and by hand %d since %v", user, found, err, count, newest)
	}
}

func (p *panel) holdsWithTheLog(t *testing.T, user int64) {
	t.Helper()
	s, all := p.For(Caller{User: user}), p.byHand(t, user)
	p.figuresHold(t, user, all)
	read := slices.DeleteFunc(slices.Clone(all), func(n byHand) bool { return !n.read })
	unread := slices.DeleteFunc(slices.Clone(all), func(n byHand) bool { return n.read })
	s.lists(t, all)
	s.lists(t, read, Filter{Field: "is_read", Op: "=", Value: true})
	s.lists(t, unread, Filter{Field: "is_read", Op: "=", Value: false})
	s.lists(t, unread, Filter{Field: "is_read", Op: "=", Value: false}, Filter{Field: "notification_type", Op: "=", Value: "info"})
}

// lists reads pages from both ends and the middle, either way around.
func (s Scope) lists(t *testing.T, want []byHand, filters ...Filter) {
	t.Helper()
	size := 3
	last := (max(len(want), 1) - 1) / size * size
	for _, backwards := range []bool{false, true} {
		l := Listing{Filters: filters, Limit: int64(size)}
		if backwards {
			want = slices.Clone(want)
			slices.Reverse(want)
			l.Order = []Ordering{{Field: "created_at"}}
		}
		for offset, from := range map[int64]int{0: 0, 3: 3, LastPage: last} {
			l.Offset = offset
			found, err := s.Notices().Notifications(t.Context(), l)
			if err != nil || found.Count != int64(len(want)) {
				t.Errorf("%v: %d %v, and by hand %d", filters, found.Count, err, len(want))
				continue
			}
			part := want[min(from, len(want)):min(from+size, len(want))]
			if !slices.EqualFunc(found.Rows, part, func(n Notification, w byHand) bool { return n.ID == w.id && n.IsRead == w.read }) {
				t.Errorf("%v from %d on: %+v, and by hand %+v", filters, offset, found.Rows, part)
			}
		}
	}
}
