package enginetest

import (
	"context"
	"fmt"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// clean takes away all that a check has made, and tells what it could not.
func (w *world) clean(ctx context.Context) (left []string) {
	for n := 17; n <= 19; n++ {
		found, is, err := w.Find(ctx, "tenant", "", w.number(n))
		switch {
		case err != nil:
			left = append(left, fmt.Sprintf("the client %s: %v", w.number(n), err))
		case is:
			left = append(left, w.vacate(ctx, found)...)
		}
		left = append(left, w.freeLogins(ctx, n)...)
	}
	return left
}

// vacate removes a client with all that it has, parts first.
func (w *world) vacate(ctx context.Context, client hosting.EngineObject) (left []string) {
	for _, kind := range backwards(kinds) {
		all, err := w.List(ctx, kind, client.ID)
		if err != nil {
			left = append(left, fmt.Sprintf("the %s objects of %s: %v", kind, client.Ref, err))
		}
		for _, o := range all {
			if err := w.Remove(ctx, o); err != nil {
				left = append(left, fmt.Sprintf("the %s %s: %v", kind, o.Name, err))
			}
		}
	}
	var err error
	w.eventually(func() bool { // the engine may still be making it
		err = w.Remove(ctx, client)
		return domain.ClassOf(err) != domain.Waiting
	})
	if err != nil {
		left = append(left, fmt.Sprintf("the client %s: %v", client.Ref, err))
	}
	return left
}

// freeLogins removes logins that clients have left behind.
func (w *world) freeLogins(ctx context.Context, n int) (left []string) {
	freer, is := w.EngineServer.(loginFreer)
	if !is {
		return nil
	}
	for _, login := range hosting.Logins(w.number(n)) {
		if err := freer.FreeLogin(ctx, login); err != nil {
			left = append(left, fmt.Sprintf("the login %s: %v", login, err))
		}
	}
	return left
}
