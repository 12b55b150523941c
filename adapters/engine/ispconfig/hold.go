package ispconfig

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"hostpanel/domain/hosting"
)

// One installation of the panel works at an engine. The engine's own store of values
// says which, and how often it has started there: a copied database knows of fewer
// starts than the original (docs/engine-ispconfig.md, "One panel for each engine").

// An Installation is the panel with its database, as an engine knows it.
type Installation struct {
	ID      string // random; "": the engine is not held, and references carry no id
	IsOlder bool   // its first references carry no id
	Starts  Starts
}

// Starts are the starts that the panel's database remembers.
type Starts interface {
	// Last is the last start. It may take over from a copy of itself once an operator
	// has ended the recovery of a restored database.
	Last(ctx context.Context) (last hosting.EngineStart, takesOver bool, err error)
	// Next remembers one more start, with a number above all that are known, before the
	// engine is told.
	Next(ctx context.Context, above int64, mark string) (n int64, err error)
}

// Held is the code of the failure of an engine that another panel holds, or a copy of
// this one.
const Held = "engine_held"

const (
	holdGroup = "hostpanel"    // of the engine's values
	holdName  = "installation" // "<installation> <start>"
	startName = "start-"       // and the number: who has that start
	holdLook  = time.Minute
	holdAgain = time.Hour // a copy that is older than this never gets in while the panel runs
)

// A hold keeps other installations from the engine.
type hold struct {
	api *connection

	mu      sync.Mutex
	looked  time.Time
	started time.Time
}

// A holder is what the engine says of who works there; zero: no installation.
type holder struct {
	id    string
	start int64
}

// own looks whether the engine is this installation's, and takes it if it is free. A
// rehearsal takes nothing.
func (h *hold) own(ctx context.Context) error {
	if h.api.Installation.ID == "" || rehearsalOf(ctx) != nil {
		return h.look(ctx)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.api.Now()
	if !h.looked.IsZero() && now.Sub(h.looked) < holdLook {
		return nil
	}
	if err := h.take(ctx, now, false); err != nil {
		h.looked = time.Time{}
		return err
	}
	h.looked = now
	return nil
}

// look refuses an engine that another installation holds.
func (h *hold) look(ctx context.Context) error {
	if h.api.Installation.ID == "" {
		return nil
	}
	by, err := h.holder(ctx)
	if err != nil {
		return err
	}
	_, err = h.permit(ctx, by)
	return err
}

// take raises the number of starts, at most once an hour. By force it takes the engine from
// the installation that has it.
func (h *hold) take(ctx context.Context, now time.Time, byForce bool) error {
	release, err := h.api.Turns.Take(ctx, Turn{Name: h.api.Name + "/" + holdName})
	if err != nil {
		return err
	}
	defer release()
	by, err := h.holder(ctx)
	if err != nil {
		return err
	}
	takesOver := byForce
	if !byForce {
		if takesOver, err = h.permit(ctx, by); err != nil {
			return err
		}
	}
	if !h.started.IsZero() && now.Sub(h.started) < holdAgain && by.id == h.api.Installation.ID && !takesOver {
		return nil
	}
	if err := h.raise(ctx, by); err != nil {
		return err
	}
	h.started = now
	return nil
}

// holder reads who works at the engine.
func (h *hold) holder(ctx context.Context) (by holder, err error) {
	value, is, err := h.api.kept(ctx, holdName)
	if err != nil || !is {
		return by, err
	}
	id, start, _ := strings.Cut(value, " ")
	if by.start, err = strconv.ParseInt(start, 10, 64); err != nil || id == "" {
		return by, held(fmt.Errorf("the engine's value %q of %q is none that a panel has written", holdName, holdGroup))
	}
	by.id = id
	return by, nil
}

// permit refuses an engine that another installation, or a copy of this one, holds. A
// restored database may take over from what it was before.
func (h *hold) permit(ctx context.Context, by holder) (takesOver bool, err error) {
	to := h.api.Installation
	switch {
	case by.id == "" && !to.IsOlder:
		return false, h.refuseStrangers(ctx)
	case by.id == "":
		return false, nil
	case by.id != to.ID:
		return false, held(fmt.Errorf("another installation of the panel, %s, works here; this one is %s", by.id, to.ID))
	}
	last, takesOver, err := to.Starts.Last(ctx)
	if err != nil || by.start < last.N {
		return false, err
	}
	isOurs := by.start == last.N
	if isOurs {
		if isOurs, err = h.isOwnStart(ctx, last); err != nil {
			return false, err
		}
	}
	if isOurs || takesOver {
		return !isOurs, nil
	}
	return false, held(fmt.Errorf("a copy of this panel's database works here: it has started %d times, this one %d", by.start, last.N))
}

// isOwnStart reports whether the engine has a start with the mark in the panel's database. A
// copy's start of the same number has another mark.
func (h *hold) isOwnStart(ctx context.Context, s hosting.EngineStart) (bool, error) {
	value, is, err := h.api.kept(ctx, startName+strconv.FormatInt(s.N, 10))
	return !is || value == h.api.Installation.ID+" "+s.Mark, err
}

// held is the refusal of an engine that another holds.
func held(err error) error { return lacking(Held, "an engine of its own", err) }

var bareReference = regexp.MustCompile(`^t[0-9]+$`)

// refuseStrangers refuses an engine that is free and where an older program of another
// installation has made clients: its references carried no id.
func (h *hold) refuseStrangers(ctx context.Context) error {
	found, err := h.api.rows(ctx, "client_get", members{{"client_id", members{{"customer_no", "t%"}}}}, []string{"customer_no"})
	if err != nil {
		return err
	}
	for _, client := range found {
		if bareReference.MatchString(client["customer_no"]) {
			return held(fmt.Errorf("client %s is another installation's, by a panel of an earlier version", client["customer_no"]))
		}
	}
	return nil
}

// raise remembers a start, takes its number at the engine, where one gets it, and writes
// who holds the engine.
func (h *hold) raise(ctx context.Context, by holder) error {
	to := h.api.Installation
	mark := rand.Text()
	n, err := to.Starts.Next(ctx, by.start, mark)
	if err != nil {
		return err
	}
	number := startName + strconv.FormatInt(n, 10)
	var won bool
	err = h.api.call(ctx, "config_value_add", kept(number, to.ID+" "+mark), &won)
	if err != nil && !refusedAs(err, conflict) {
		return err
	}
	if !won {
		value, _, err := h.api.kept(ctx, number)
		if err != nil {
			return err
		}
		if value != to.ID+" "+mark {
			return held(fmt.Errorf("another panel has taken start %d at the same time", n))
		}
	}
	if err := h.write(ctx, by, to.ID+" "+strconv.FormatInt(n, 10)); err != nil {
		return err
	}
	if by.start > 0 {
		former := startName + strconv.FormatInt(by.start, 10)
		err = h.api.call(ctx, "config_value_delete", members{{"group", holdGroup}, {"name", former}}, nil)
	}
	if refusedAs(err, absent) {
		return nil
	}
	return err
}

// write says who holds the engine. Of two that find it free, the first one gets it.
func (h *hold) write(ctx context.Context, by holder, value string) error {
	if by.id != "" {
		return h.api.call(ctx, "config_value_update", kept(holdName, value), nil)
	}
	var won bool
	err := h.api.call(ctx, "config_value_add", kept(holdName, value), &won)
	if err == nil && won {
		return nil
	}
	if err != nil && !refusedAs(err, conflict) {
		return err
	}
	now, is, err := h.api.kept(ctx, holdName)
	switch {
	case err != nil:
		return err
	case !is || now != value:
		return held(errors.New("another installation of the panel has come first"))
	}
	return nil
}

func kept(name, value string) members {
	return members{{"group", holdGroup}, {"name", name}, {"value", value}}
}

// kept reads one of the panel's values in the engine's store.
func (c *connection) kept(ctx context.Context, name string) (value string, is bool, err error) {
	found, err := c.rows(ctx, "config_value_get", members{{"group", holdGroup}, {"name", name}}, []string{"value"})
	if err != nil || len(found) == 0 {
		return "", false, err
	}
	return found[0]["value"], true, nil
}

// Hold begins the work of this installation at the engine: after [Engine.Check] it is held,
// and another one is refused.
func (e *Engine) Hold(ctx context.Context) error { return e.survey.writable(ctx) }

// Holder returns the id of the installation that works at the engine; "": none.
func (e *Engine) Holder(ctx context.Context) (id string, err error) {
	by, err := e.survey.hold.holder(ctx)
	return by.id, err
}

// Claim takes the engine for this installation, from the one that has it, which must never
// work here again.
func (e *Engine) Claim(ctx context.Context) error {
	h := e.survey.hold
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.take(ctx, e.api.Now(), true)
}

// reference is the customer number of a client: the panel's own, and its installation.
func (c *connection) reference(ref string) string {
	if c.Installation.ID == "" || ref == "" {
		return ref
	}
	return ref + "@" + c.Installation.ID
}

// refers reports whether a customer number is this installation's reference to a client.
func (c *connection) refers(number, ref string) bool {
	return number == c.reference(ref) || c.Installation.IsOlder && number == ref
}

// ownReference is what the panel calls a client by its customer number. That of another
// installation stays whole.
func (c *connection) ownReference(number string) string {
	if c.Installation.ID == "" {
		return number
	}
	return strings.TrimSuffix(number, "@"+c.Installation.ID)
}

// isForeign reports whether a customer number belongs to another installation.
func (c *connection) isForeign(number string) bool {
	_, of, carries := strings.Cut(number, "@")
	return carries && of != c.Installation.ID || !carries && !c.Installation.IsOlder && bareReference.MatchString(number)
}

// clientsBy looks a client up by the panel's reference.
func (c *connection) clientsBy(ctx context.Context, ref string) ([]row, error) {
	found, err := c.seek(ctx, &clients, clients.queries("", c.reference(ref), c.Servers))
	if err != nil || len(found) > 0 || !c.Installation.IsOlder {
		return found, err
	}
	return c.seek(ctx, &clients, clients.queries("", ref, c.Servers))
}
