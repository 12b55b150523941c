package credentials_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
)

func TestALinkWorksOnce(t *testing.T) {
	s := newVault(t)
	use := func(token string) error {
		_, err := s.ExecuteWith(t.Context(), domain.Metadata{}, []eventstore.TxStatement{credentials.UseToken(token, "set_password")})
		return err
	}
	old, token := credentials.NewToken(), credentials.NewToken()
	for _, link := range []string{old, token} {
		if _, err := s.ExecuteWith(t.Context(), domain.Metadata{}, credentials.TokenRows(link, "set_password", 12, time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if err := use(old); !errors.Is(err, credentials.ErrLink) {
		t.Errorf("a newer link must end older ones: %v", err)
	}
	if user, err := s.TokenUser(t.Context(), token, "set_password"); err != nil || user != 12 {
		t.Errorf("user %d, %v", user, err)
	}
	var used atomic.Int64
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if use(token) == nil {
				used.Add(1)
			}
		})
	}
	wg.Wait()
	if used.Load() != 1 {
		t.Errorf("used %d times", used.Load())
	}
	if _, err := s.TokenUser(t.Context(), token, "set_password"); !errors.Is(err, credentials.ErrLink) {
		t.Errorf("after use: %v", err)
	}
}
