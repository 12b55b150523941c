package eventstore_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
)

func insist(ctx context.Context, t *testing.T, s *eventstore.Store, c domain.Command) {
	cause := domain.Metadata{ID: uuid.New()}
	for ctx.Err() == nil {
		_, err := s.Execute(ctx, cause, c)
		switch {
		case err == nil:
			return
		case errors.Is(err, eventstore.ErrUnavailable):
			time.Sleep(5 * time.Millisecond)
		case !errors.Is(err, eventstore.ErrConflict):
			t.Errorf("%v", err)
			return
		}
	}
	t.Error("out of time")
}
