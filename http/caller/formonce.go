package caller

import (
	"context"
	"net/http"

	"hostpanel/domain"
	"hostpanel/http/route"
)

// FormOnce carries out a form with a hidden number, which is what an Idempotency-Key is to
// the API: however often it is sent, and by however many at once, it is carried out once.
// It tells whether another sending did it, and at which path of the API the record stands
// that was made.
func FormOnce(
	ctx context.Context, s *Callers, c route.Call, number string, do func(route.Call) error,
) (isRepeat bool, location string, err error) {
	if number == "" {
		return false, "", domain.RefuseField("number", "This field is required.")
	}
	key := &domain.IdempotencyKey{
		Principal: c.Caller.Principal, Method: c.Method, Path: c.Path, Key: number,
		Fingerprints: s.deps.Once.Fingerprints([]byte(c.Path), []byte(number)), Status: http.StatusOK, Keep: domain.KeepDay,
	}
	if isRepeat, location, err = formDone(ctx, s, *key); isRepeat || err != nil {
		return isRepeat, location, err
	}
	if err = do(c.Once(key)); err == nil {
		return false, "", nil
	}
	if isRepeat, location, look := formDone(ctx, s, *key); look == nil && isRepeat { // a twin was faster
		return true, location, nil
	}
	return false, "", err
}

// formDone tells whether a form with this key was carried out.
func formDone(ctx context.Context, s *Callers, key domain.IdempotencyKey) (done bool, location string, err error) {
	before, err := s.deps.Once.Look(ctx, key)
	done = err == nil && before.State != domain.ReplayFree && before.State != domain.ReplayReused
	return done, before.Location, err
}
