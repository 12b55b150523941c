package ispconfig

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hostpanel/domain"
)

// The engine locks out an address that gets sessions or passwords wrong ten
// times with less than five minutes between one and the next, whatever else
// that address does. One session pool therefore owns the password and the session,
// and stops asking long before.
const (
	refreshAfter   = 1440 * time.Second // and up to two minutes more; the session ends at 1800
	refreshSpread  = 120 * time.Second
	lockedFor      = 5*time.Minute + 10*time.Second
	incidentWindow = 5 * time.Minute
	incidentLimit  = 3
	maintenanceFor = time.Minute
)

type door interface {
	login(context.Context) (string, error)
	logout(context.Context, string)
}

type session struct {
	id      string
	refresh time.Time
	users   int
	retired bool // to be logged out when its last user has given it back
}

// A sessionPool lends the session to calls. Its turn is held through a login, so
// that there is only ever one and callers that need the new session wait for
// it.
type sessionPool struct {
	door    door
	now     func() time.Time
	jitter  func(int64) int64
	turn    chan struct{}
	current *session

	incidents []time.Time     // dead sessions and wrong logins
	blocked   *domain.Failure // why nothing is sent
	until     time.Time
}

func (k *sessionPool) take(ctx context.Context) error {
	select {
	case k.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return domain.Fail(domain.Transient, "engine_busy", fmt.Errorf("wait for a session: %w", ctx.Err()))
	}
}

func (k *sessionPool) leave() { <-k.turn }

// borrow lends the session, and opens a new one where there is none or it is
// about to end.
func (k *sessionPool) borrow(ctx context.Context) (*session, error) {
	if err := k.take(ctx); err != nil {
		return nil, err
	}
	defer k.leave()
	if err := k.open(); err != nil {
		return nil, err
	}
	if k.current == nil || !k.now().Before(k.current.refresh) {
		if err := k.renew(ctx); err != nil {
			return nil, err
		}
	}
	k.current.users++
	return k.current, nil
}

// open tells whether anything may be sent.
func (k *sessionPool) open() error {
	if k.blocked == nil {
		return nil
	}
	if !k.now().Before(k.until) {
		k.blocked = nil
		return nil
	}
	failure := *k.blocked
	failure.RetryAfter = k.until.Sub(k.now())
	if failure.Lacks != "" {
		failure.Rest = failure.RetryAfter
	}
	return &failure
}

func (k *sessionPool) renew(ctx context.Context) error {
	begun := k.now()
	id, err := k.door.login(ctx)
	if err != nil {
		return k.turnedAway(err)
	}
	if old := k.current; old != nil {
		old.retired = true
		k.dismiss(ctx, old)
	}
	k.current = &session{id: id, refresh: begun.Add(refreshAfter + time.Duration(k.jitter(int64(refreshSpread))))}
	return nil
}

// turnedAway reads why there is no session.
func (k *sessionPool) turnedAway(err error) error {
	refusal, refused := err.(*fault) //nolint:errorlint // send returns it bare
	if !refused {
		return err
	}
	switch refusal.class {
	case badCredentials, badAddress:
		k.incident()
		k.block(refusal, k.now().Add(lockedFor))
	case locked:
		k.block(refusal, k.now().Add(lockedFor))
	case maintenance:
		k.block(refusal, k.now().Add(maintenanceFor))
	default:
		return refusal.failure("login", 0)
	}
	return k.open()
}

// giveBack ends a loan.
func (k *sessionPool) giveBack(ctx context.Context, s *session) {
	k.turn <- struct{}{} // logins are bounded in time, and so is this
	defer k.leave()
	s.users--
	k.dismiss(ctx, s)
}

func (k *sessionPool) dismiss(ctx context.Context, s *session) {
	if s.retired && s.users == 0 && s.id != "" {
		k.door.logout(ctx, s.id)
		s.id = ""
	}
}

// heed draws the consequences of a refused call and tells whether to stop. Only
// a session that has expired under the call lets it be sent once more.
func (k *sessionPool) heed(ctx context.Context, s *session, refusal *fault, again bool) (stop bool) {
	k.turn <- struct{}{}
	defer k.leave()
	switch refusal.class {
	case expired:
		if k.current == s {
			k.current = nil
			k.incident()
		}
		if again {
			k.block(refusal, k.now().Add(lockedFor))
		}
		return again
	case locked:
		k.block(refusal, k.now().Add(lockedFor))
	case badAddress:
		k.block(refusal, k.now().Add(lockedFor))
	default: // the session is not to blame
	}
	return true
}

// incident counts what the engine counts, and stops long before it does.
func (k *sessionPool) incident() {
	now := k.now()
	k.incidents = slices.DeleteFunc(k.incidents, func(at time.Time) bool { return now.Sub(at) >= incidentWindow })
	if k.incidents = append(k.incidents, now); len(k.incidents) >= incidentLimit {
		k.block(&fault{class: locked}, now.Add(lockedFor))
	}
}

func (k *sessionPool) block(why *fault, until time.Time) {
	k.blocked, _ = why.failure("session", 0).(*domain.Failure) //nolint:errorlint // made there
	k.until = until
	if why.class != maintenance { // sessions outlive maintenance
		k.current = nil
	}
}

// pause is how long nothing will be sent from now on.
func (k *sessionPool) pause() time.Duration {
	k.turn <- struct{}{}
	defer k.leave()
	if k.blocked == nil {
		return 0
	}
	return max(0, k.until.Sub(k.now()))
}

func (k *sessionPool) close(ctx context.Context) error {
	if err := k.take(ctx); err != nil {
		return err
	}
	defer k.leave()
	if k.current != nil {
		k.current.retired = true
		k.dismiss(ctx, k.current)
		k.current = nil
	}
	return nil
}
