package eventstore_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

func lay(t *testing.T, s *eventstore.Store, rows ...eventstore.Row) {
	t.Helper()
	if _, err := s.ExecuteWith(t.Context(), domain.Cause{ID: uuid.New()}, rows); err != nil {
		t.Fatal(err)
	}
}

func signs(t *testing.T, s *eventstore.Store, endpoint int64, want ...[]byte) {
	t.Helper()
	got, err := s.EndpointSecrets(t.Context(), endpoint)
	if len(want) == 0 && !errors.Is(err, eventstore.ErrShredded) || len(want) > 0 && err != nil || len(got) != len(want) {
		t.Fatalf("endpoint %d has %d secrets instead of %d, %v", endpoint, len(got), len(want), err)
	}
	for i := range want {
		if !bytes.Equal(got[i], want[i]) {
			t.Errorf("secret %d of endpoint %d is another one", i, endpoint)
		}
	}
}

func TestASecretThatWasReplacedSignsAlongForADay(t *testing.T) {
	url := eventstoretest.URL(t)
	s := eventstore.Open(eventstoretest.Pool(t, url), facts, keyring(t, eventstore.NewSecretKey()))
	first, second, third, other := eventstore.NewEndpointSecret(), eventstore.NewEndpointSecret(), eventstore.NewEndpointSecret(), eventstore.NewEndpointSecret()
	signs(t, s, 1)
	lay(t, s, s.EndpointSecretRows(1, first)...)
	lay(t, s, s.EndpointSecretRows(2, other)...)
	signs(t, s, 1, first)
	lay(t, s, s.EndpointSecretRows(1, second)...)
	signs(t, s, 1, second, first)
	lay(t, s, s.EndpointSecretRows(1, third)...) // somebody has clicked twice: the one in use goes on
	signs(t, s, 1, third, second, first)
	for range 10 {
		lay(t, s, s.EndpointSecretRows(2, eventstore.NewEndpointSecret())...)
	}
	if many, err := s.EndpointSecrets(t.Context(), 2); err != nil || len(many) != 5 {
		t.Errorf("%d secrets sign, %v", len(many), err)
	}

	a := eventstoretest.Pool(t, url)
	if _, err := a.Exec(t.Context(), `update endpoint_secrets set expires_at = expires_at - interval '25 hours'`); err != nil {
		t.Fatal(err)
	}
	signs(t, s, 1, third)
	if err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := a.QueryRow(t.Context(), `select count(*) from endpoint_secrets`).Scan(&left); err != nil || left != 2 {
		t.Errorf("%d rows are left, %v", left, err)
	}
	lay(t, s, eventstore.ShredEndpointSecrets(1))
	signs(t, s, 1)
}

func TestTheSecretsOfEndpointsOutliveTheKeyThatSealedThem(t *testing.T) {
	url := eventstoretest.URL(t)
	process := func(keys string) *eventstore.Store {
		return eventstore.Open(eventstoretest.Pool(t, url), facts, keyring(t, keys))
	}
	old, fresh := eventstore.NewSecretKey(), eventstore.NewSecretKey()
	before, during, after := process(old), process(fresh+","+old), process(fresh)
	first, second := eventstore.NewEndpointSecret(), eventstore.NewEndpointSecret()
	lay(t, before, before.EndpointSecretRows(1, first)...)
	lay(t, before, before.EndpointSecretRows(1, second)...)
	signs(t, during, 1, second, first)
	if _, err := after.EndpointSecrets(t.Context(), 1); !errors.Is(err, eventstore.ErrKey) {
		t.Errorf("got %v", err)
	}
	if err := during.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	signs(t, after, 1, second, first)
}

// A box that is moved to another endpoint's row opens nothing.
func TestASecretBelongsToItsEndpoint(t *testing.T) {
	url := eventstoretest.URL(t)
	s := eventstore.Open(eventstoretest.Pool(t, url), facts, keyring(t, eventstore.NewSecretKey()))
	lay(t, s, s.EndpointSecretRows(1, eventstore.NewEndpointSecret())...)
	if _, err := eventstoretest.Pool(t, url).Exec(t.Context(), `update endpoint_secrets set endpoint = 2`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.EndpointSecrets(t.Context(), 2); !errors.Is(err, eventstore.ErrKey) {
		t.Errorf("got %v", err)
	}
}
