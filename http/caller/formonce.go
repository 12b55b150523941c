package caller

import (
	"context"
	"net/http"

	"hostpanel/domain"
	"hostpanel/http/route"
)

// FormKey is the key of a form with this hidden number: however often it is sent, it is
// carried out once. The number is what an Idempotency-Key is to the API.
func FormKey(s *Callers, c route.Call, number string) *domain.IdempotencyKey {
	return &domain.IdempotencyKey{
		Principal: c.Caller.Principal, Method: c.Method, Path: c.Path, Key: number,
		Fingerprints: s.deps.Once.Fingerprints([]byte(c.Path), []byte(number)), Status: http.StatusOK, Keep: domain.KeepDay,
	}
}

// FormDone tells whether a form with this key was carried out, and where the record
// stands that it made.
func FormDone(ctx context.Context, s *Callers, key *domain.IdempotencyKey) (done bool, location string, err error) {
	before, err := s.deps.Once.Look(ctx, *key)
	done = err == nil && before.State != domain.ReplayFree && before.State != domain.ReplayReused
	return done, before.Location, err
}
