package enginetest

import (
	"context"
	"fmt"
	"math/rand/v2"

	"hostpanel/domain/hosting"
)

const letters = "abcdefghijklmnopqrstuvwxyz"

// NewTag draws a beginning for the names of one run.
func NewTag() string {
	tag := []byte("hp")
	for range 7 {
		tag = append(tag, letters[rand.IntN(len(letters))])
	}
	return string(tag)
}

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
	if err := w.Remove(ctx, client); err != nil {
		left = append(left, fmt.Sprintf("the client %s: %v", client.Ref, err))
	}
	return left
}
