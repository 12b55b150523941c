package eventstore_test

import (
	"errors"
	"testing"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

func TestADatabaseThatIsAwayIsSaidToBe(t *testing.T) {
	s := eventstoretest.Store(t, facts)
	eventstore.Serve(s, "till", tills)
	s.Pool().Close()
	_, err := s.Execute(t.Context(), domain.Metadata{}, putIn{"a", 1})
	if !errors.Is(err, eventstore.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}
