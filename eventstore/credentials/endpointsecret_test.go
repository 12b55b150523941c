package credentials_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
)

func lay(t *testing.T, s vault, rows ...eventstore.TxStatement) {
	t.Helper()
	if _, err := s.ExecuteWith(t.Context(), domain.Metadata{ID: uuid.New()}, rows); err != nil {
		t.Fatal(err)
	}
}

func signs(t *testing.T, s vault, endpoint int64, want ...[]byte) {
	t.Helper()
	got, err := s.EndpointSecrets(t.Context(), endpoint)
	if len(want) == 0 && !errors.Is(err, credentials.ErrShredded) || len(want) > 0 && err != nil || len(got) != len(want) {
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
	s := open(t, url, sealing.NewSecretKey())
	first, second, third, other := credentials.NewEndpointSecret(), credentials.NewEndpointSecret(),
		credentials.NewEndpointSecret(), credentials.NewEndpointSecret()
	signs(t, s, 1)
	lay(t, s, s.EndpointSecretRows(1, first)...)
	lay(t, s, s.EndpointSecretRows(2, other)...)
	signs(t, s, 1, first)
	lay(t, s, s.EndpointSecretRows(1, second)...)
	signs(t, s, 1, second, first)
	lay(t, s, s.EndpointSecretRows(1, third)...) // changed twice in a row: the secret in use stays valid
	signs(t, s, 1, third, second, first)
	for range 10 {
		lay(t, s, s.EndpointSecretRows(2, credentials.NewEndpointSecret())...)
	}
	if many, err := s.EndpointSecrets(t.Context(), 2); err != nil || len(many) != 5 {
		t.Errorf("%d secrets sign, %v", len(many), err)
	}

	a := eventstoretest.Pool(t, url)
	if _, err := a.Exec(t.Context(), `update endpoint_secrets set expires_at = expires_at - interval '25 hours'`); err != nil {
		t.Fatal(err)
	}
	signs(t, s, 1, third)
	if err := s.Vault.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var left int
	if err := a.QueryRow(t.Context(), `select count(*) from endpoint_secrets`).Scan(&left); err != nil || left != 2 {
		t.Errorf("%d rows are left, %v", left, err)
	}
	lay(t, s, credentials.ShredEndpointSecrets(1))
	signs(t, s, 1)
}

func TestTheSecretsOfEndpointsOutliveTheKeyThatSealedThem(t *testing.T) {
	url := eventstoretest.URL(t)
	process := func(keys string) vault {
		return open(t, url, keys)
	}
	old, fresh := sealing.NewSecretKey(), sealing.NewSecretKey()
	before, during, after := process(old), process(fresh+","+old), process(fresh)
	first, second := credentials.NewEndpointSecret(), credentials.NewEndpointSecret()
	lay(t, before, before.EndpointSecretRows(1, first)...)
	lay(t, before, before.EndpointSecretRows(1, second)...)
	signs(t, during, 1, second, first)
	if _, err := after.EndpointSecrets(t.Context(), 1); !errors.Is(err, sealing.ErrKey) {
		t.Errorf("got %v", err)
	}
	if err := during.Vault.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	signs(t, after, 1, second, first)
}

func TestSecretsInTransitOutliveTheKeyThatSealedThem(t *testing.T) {
	url := eventstoretest.URL(t)
	old, fresh := sealing.NewSecretKey(), sealing.NewSecretKey()
	before, during, after := open(t, url, old), open(t, url, fresh+","+old), open(t, url, fresh)
	lay(t, before, before.HandOff("engine", "secret/1", []byte("pass-word"), time.Hour))
	if err := during.Vault.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if secret, err := after.OpenHandOff(t.Context(), "engine", "secret/1"); err != nil || string(secret) != "pass-word" {
		t.Errorf("%q, %v", secret, err)
	}
}

// A sealed secret that is copied to another endpoint's row cannot be opened.
func TestASecretBelongsToItsEndpoint(t *testing.T) {
	url := eventstoretest.URL(t)
	s := open(t, url, sealing.NewSecretKey())
	lay(t, s, s.EndpointSecretRows(1, credentials.NewEndpointSecret())...)
	if _, err := eventstoretest.Pool(t, url).Exec(t.Context(), `update endpoint_secrets set endpoint = 2`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.EndpointSecrets(t.Context(), 2); !errors.Is(err, sealing.ErrKey) {
		t.Errorf("got %v", err)
	}
}
