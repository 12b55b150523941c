package eventstore_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

func TestALimitIsExactUnderAFlood(t *testing.T) {
	s := newStore(t)
	var allowed atomic.Int64
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			q, err := s.Take(context.Background(), "key:a", 60, time.Minute)
			if err != nil {
				t.Error(err)
			}
			if q.Allowed {
				allowed.Add(1)
			} else if q.Wait <= 0 || q.Wait > time.Minute || q.Remaining != 0 {
				t.Errorf("refused with %+v", q)
			}
		})
	}
	wg.Wait()
	if allowed.Load() != 60 {
		t.Errorf("%d calls were allowed, want 60", allowed.Load())
	}
	if q, err := s.Take(t.Context(), "key:b", 60, time.Minute); err != nil || !q.Allowed || q.Remaining != 59 {
		t.Errorf("another key: %+v, %v", q, err)
	}
}

func TestTheWindowSlides(t *testing.T) {
	s := newStore(t)
	window := 200 * time.Millisecond
	var granted []time.Time
	for len(granted) < 6 {
		before := time.Now()
		q, err := s.Take(t.Context(), "k", 2, window)
		if err != nil {
			t.Fatal(err)
		}
		if !q.Allowed {
			time.Sleep(q.Wait) // as a client is told
			continue
		}
		granted = append(granted, before)
	}
	if took := time.Since(granted[0]); took < 2*window {
		t.Errorf("six calls of two in %v took only %v", window, took)
	}
}

func TestAKeyBindsOneRequest(t *testing.T) {
	s := newStore(t)
	key := domain.OnceKey{Principal: "api_key:1", Method: "POST", Path: "/o/", Key: "k1", Fingerprints: [][]byte{[]byte("f")}, Status: 201, Location: "/o/1/", Keep: domain.KeepDay}
	state := func(k domain.OnceKey) domain.Replay {
		t.Helper()
		r, err := s.Look(t.Context(), k)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if got := state(key).State; got != domain.ReplayFree {
		t.Errorf("before: %s", got)
	}
	ran := 0
	for range 3 {
		_, err := s.Execute(t.Context(), domain.Cause{Key: &key}, putIn{uuid.NewString(), 1})
		if err == nil {
			ran++
		} else if !errors.Is(err, eventstore.ErrInProgress) {
			t.Error(err)
		}
	}
	if head, _, _ := s.Head(t.Context()); ran != 1 || head != 1 {
		t.Errorf("%d requests ran and left %d facts", ran, head)
	}
	if got := state(key).State; got != domain.ReplayRunning {
		t.Errorf("while it runs: %s", got)
	}
	if err := s.Release(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if got := state(key); got.State != domain.ReplayOpen || got.Location != "/o/1/" {
		t.Errorf("broken off: %+v", got)
	}
	if err := s.Finish(t.Context(), key, 201, `"o-1"`, []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if got := state(key); got.State != domain.ReplayFinished || got.ETag != `"o-1"` || string(got.Body) != `{}` {
		t.Errorf("finished: %+v", got)
	}
	other := key
	other.Fingerprints = [][]byte{[]byte("g")}
	if got := state(other).State; got != domain.ReplayReused {
		t.Errorf("another request under the key: %s", got)
	}
	other.Principal = "api_key:2"
	if got := state(other).State; got != domain.ReplayFree {
		t.Errorf("another principal's key: %s", got)
	}
}

func TestASecretIsHandedOverOnceAndShredded(t *testing.T) {
	s := newStore(t)
	execute := func(rows ...eventstore.Row) {
		t.Helper()
		if _, err := s.ExecuteWith(t.Context(), domain.Cause{}, rows); err != nil {
			t.Fatal(err)
		}
	}
	execute(s.HandOff("ftp", "e/site-1/1", []byte("s3cret"), time.Hour))
	execute(s.HandOff("ftp", "e/site-1/1", []byte("another"), time.Hour))
	if got, err := s.OpenHandOff(t.Context(), "ftp", "e/site-1/1"); err != nil || string(got) != "s3cret" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := s.OpenHandOff(t.Context(), "mail", "e/site-1/1"); !errors.Is(err, eventstore.ErrShredded) {
		t.Errorf("for another purpose: %v", err)
	}
	execute(eventstore.Shred("e/site-1/1"))
	if _, err := s.OpenHandOff(t.Context(), "ftp", "e/site-1/1"); !errors.Is(err, eventstore.ErrShredded) {
		t.Errorf("after shredding: %v", err)
	}
}

func TestALinkWorksOnce(t *testing.T) {
	s := newStore(t)
	use := func(token string) error {
		_, err := s.ExecuteWith(t.Context(), domain.Cause{}, []eventstore.Row{eventstore.UseToken(token, "set_password")})
		return err
	}
	old, token := eventstore.NewToken(), eventstore.NewToken()
	for _, link := range []string{old, token} {
		if _, err := s.ExecuteWith(t.Context(), domain.Cause{}, eventstore.TokenRows(link, "set_password", 12, time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if err := use(old); !errors.Is(err, eventstore.ErrLink) {
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
	if _, err := s.TokenUser(t.Context(), token, "set_password"); !errors.Is(err, eventstore.ErrLink) {
		t.Errorf("after use: %v", err)
	}
}

func TestPasswordsAreCheckedAgainstTheirHash(t *testing.T) {
	s, phc := newStore(t), hashed(t, "correct horse")
	setPassword(t, s, 12, phc)
	setPassword(t, s, 13, "")
	for _, check := range []struct {
		user     int64
		password string
		want     bool
	}{{12, "correct horse", true}, {12, "battery staple", false}, {13, "correct horse", false}, {13, "", false}, {14, "correct horse", false}} {
		if is, err := s.CheckPassword(t.Context(), check.user, check.password); err != nil || is != check.want {
			t.Errorf("%q for user %d: %v, %v", check.password, check.user, is, err)
		}
	}
	if contains(phc, "horse") {
		t.Error("the hash shows the password")
	}
}

func TestAnOldKeyOpensWhatANewOneDoesNotSeal(t *testing.T) {
	old, fresh := eventstore.NewSecretKey(), eventstore.NewSecretKey()
	before, _ := eventstore.ParseKeyring(old)
	after, _ := eventstore.ParseKeyring(fresh + "," + old)
	box := before.Seal("p", "c", []byte("text"))
	if text, err := after.Open("p", "c", box); err != nil || string(text) != "text" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := before.Open("p", "c", after.Seal("p", "c", []byte("text"))); !errors.Is(err, eventstore.ErrKey) {
		t.Errorf("%v", err)
	}
	if _, err := before.Open("p", "elsewhere", box); !errors.Is(err, eventstore.ErrKey) {
		t.Errorf("moved to another place: %v", err)
	}
	if _, err := eventstore.ParseKeyring("c2hvcnQ="); err == nil {
		t.Error("a short key is accepted")
	}
}

func TestADatabaseThatIsAwayIsSaidToBe(t *testing.T) {
	s := eventstoretest.Store(t, facts)
	eventstore.Serve(s, "till", tills)
	s.Pool().Close()
	_, err := s.Execute(t.Context(), domain.Cause{}, putIn{"a", 1})
	if !errors.Is(err, eventstore.ErrUnavailable) {
		t.Errorf("%v", err)
	}
}
