package ispconfig

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hostpanel/domain"
)

// The engine makes most objects in several inserts, and the panel some in several
// calls. Whichever was the last one that was carried out, what is found is
// completed before it counts as made.

// A mender completes what a creation that was cut short has left.
type mender struct{ engine *Engine }

func mending(e *Engine) mender { return mender{e} }

// lacks tells whether a part of a row is missing that its creation makes.
func (m mender) lacks(ctx context.Context, r *resource, have row) (bool, error) {
	if r.lacks == nil {
		return false, nil
	}
	return r.lacks(ctx, m.engine, have)
}

// partial tells whether a row may be what is left of a creation that was cut
// short: a part is missing, or the servers are not known to have been told.
func (m mender) partial(ctx context.Context, r *resource, have row, p progress) (missing, partial bool, err error) {
	missing, err = m.lacks(ctx, r, have)
	if err != nil || missing || r.silent {
		return missing, missing, err
	}
	if !p.told || r.parts == nil {
		return false, !p.told, nil
	}
	of, parts, err := r.parts(ctx, m.engine, have)
	for _, part := range parts {
		told, again := m.engine.journal.told(ctx, of, part)
		partial, err = partial || !told, errors.Join(err, again)
	}
	return false, partial, err
}

// makers remembers since when rows have been seen half made. The engine does not tell
// whether it is still making one, and a call goes on there after its caller has given up.
type makers struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

// over refuses to take a half-made row apart while a call at the engine can still be
// making it. The engine notes for a client alone when it was made, by its own clock.
func (m *makers) over(r *resource, have row, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := rowKey(r.table, have.number(r.key))
	since, known := m.seen[key]
	if !known {
		since = now
		if m.seen == nil {
			m.seen = map[string]time.Time{}
		}
		m.seen[key] = since
	}
	if created := have.number("created_at"); created > 0 {
		if at := time.Unix(created, 0).Add(journalSlack); at.Before(since) {
			since = at
		}
	}
	if now.Before(since.Add(makerLimit + clientLimit)) {
		return domain.Fail(domain.Waiting, "being_made", fmt.Errorf("the engine may still be making %s %d", r.kind, have.number(r.key)))
	}
	delete(m.seen, key)
	return nil
}

// completed brings what a creation that was cut short lacks of a row that was
// found. The row may be another one then.
func (m mender) completed(ctx context.Context, r *resource, w *wish, have row) (row, error) {
	if r == &clients && w.ID != 0 && w.group != 0 {
		return have, nil // it was whole when the panel got its number
	}
	missing, err := m.lacks(ctx, r, have)
	if err != nil || !missing || !r.remade {
		return have, err
	}
	if err := m.engine.makers.over(r, have, m.engine.api.Now()); err != nil {
		return nil, err
	}
	if err := m.dismantle(ctx, r, have); err != nil {
		return nil, err
	}
	w.ID = 0
	made, err := m.engine.add(ctx, r, w)
	if err != nil {
		return nil, err
	}
	have, present, err := m.engine.api.get(ctx, r, made)
	switch {
	case err != nil:
		return nil, afterwards(err)
	case !present:
		return nil, drifted(r.kind, made)
	}
	w.ID = made
	if r == &clients {
		w.group, err = m.engine.owners.groupOf(ctx, made)
	}
	return have, afterwards(err)
}

// dismantle removes what a creation has left, if nothing belongs to it.
func (m mender) dismantle(ctx context.Context, r *resource, have row) error {
	if r.keeps != nil {
		kept, err := r.keeps(ctx, m.engine, have)
		if err != nil {
			return err
		}
		if kept != "" {
			return drifted(r.kind, have.number(r.key))
		}
	}
	if r.leaving != nil {
		if err := r.leaving(ctx, m.engine, have); err != nil {
			return err
		}
	}
	return m.engine.erase(ctx, r, have)
}

// announce lets the servers know of a row, and of its parts, unless the journal
// shows that they do: of what was found they may never have been told.
func (m mender) announce(ctx context.Context, r *resource, have row) error {
	if r.silent {
		return nil
	}
	p, err := m.engine.journal.progress(ctx, r, have)
	if err != nil || p.told && !p.refused {
		return err
	}
	return m.journalAgain(ctx, r, have)
}

// announceParts does so for what comes with a row.
func (m mender) announceParts(ctx context.Context, r *resource, have row) error {
	if r.parts == nil {
		return nil
	}
	of, parts, err := r.parts(ctx, m.engine, have)
	for _, part := range parts {
		if err == nil {
			err = m.announce(ctx, of, part)
		}
	}
	return err
}

// reannounce lets the servers know of a row where the journal shows that they
// were told something else, or that they have refused it.
func (m mender) reannounce(ctx context.Context, r *resource, have row) error {
	if r.silent {
		return nil
	}
	p, err := m.engine.journal.progress(ctx, r, have)
	if err != nil || !p.known || p.told && !p.refused {
		return err
	}
	return m.journalAgain(ctx, r, have)
}

// journalAgain writes jobs that leave the row as it is.
func (m mender) journalAgain(ctx context.Context, r *resource, have row) error {
	if r == &zones {
		return changeZone(ctx, m.engine, nil, have, nil) // the serial is enough
	}
	flag := either(r.flag, "active")
	on := have.on(flag)
	for _, value := range []string{yes(!on), yes(on)} {
		params := append(without(r.repeats(have), flag), member{flag, value})
		if err := m.engine.update(ctx, r, have, params); err != nil {
			return afterwards(err)
		}
	}
	return nil
}

// siteLacks: the engine gives a new site its directory and user in a second step.
func siteLacks(_ context.Context, _ *Engine, have row) (bool, error) {
	return len(have["document_root"]) < len("/x") || len(have["system_user"]) < len("web1"), nil
}

// clientLacks: the engine gives a new client its group and its login in further
// steps. Without the login nothing can be made for it.
func clientLacks(ctx context.Context, e *Engine, have row) (bool, error) {
	number := have.number("client_id")
	if e.owners.groups.isWhole(number) {
		return false, nil
	}
	if _, err := e.owners.groupOf(ctx, number); err != nil {
		if ownerless(err) {
			return true, nil
		}
		return false, err
	}
	found, err := e.api.rows(ctx, "client_get_by_username", members{{"username", have["username"]}}, []string{"client_id"})
	if err = lookedFor(err); err != nil || len(found) == 0 {
		return err == nil, err
	}
	// The engine shows the oldest login of a name. It lets a client begin only without one,
	// so another client's came to be at the same time as this client's.
	e.owners.groups.markWhole(number)
	return false, nil
}

// ownerless tells whether a client has no group.
func ownerless(err error) bool {
	f, ok := errors.AsType[*domain.Failure](err)
	return ok && f.Code == "owner_missing"
}
