package http_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/account"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
)

const noticeStream = "/notifications/api/v1/notifications/stream/"

func (s *shop) raise(t testing.TB, user int64, title string) uuid.UUID {
	t.Helper()
	id := uuid.New()
	s.do(t, notice.Raise{ID: id, InApp: true, User: user, Text: notice.Text{Type: notice.Info, Title: title, Message: "News.", URL: "/"}, At: time.Now()})
	return id
}

func TestUsersHearWhatBecomesOfTheirNotifications(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t).told(t).open(t)
	h := s.hear(t, noticeStream, bearer(s.known["ben"])...)
	s.raise(t, ana, "For Ana alone")
	id := s.raise(t, ben, "A fourth")
	as := func(method, path, body string) *httptest.ResponseRecorder {
		return s.call(method, path, body, bearer(s.known["ben"])...)
	}
	first := h.is("notification", `"title":"A fourth"`)
	if shown := as("GET", "/notifications/api/v1/notifications/"+id.String()+"/", "").Body.String(); shown != first.data {
		t.Errorf("heard %s, shown %s", first.data, shown)
	}
	path := "/notifications/api/v1/notifications/" + id.String() + "/"
	as("PATCH", path+"mark_read/", "")
	h.is("notification", `"is_read":true`)
	as("PATCH", path, `{"is_read":false}`)
	h.is("notification", `"is_read":false`)
	as("PATCH", "/notifications/api/v1/notifications/mark_all_read/", "")
	h.is("all_read", `{"through":"20`)
	as("DELETE", path, "")
	if last := h.is("deleted", `{"id":"`+id.String()+`"}`); last.id < first.id+4 {
		t.Errorf("from %d to %d", first.id, last.id)
	}
	mailed := notice.Raise{ID: uuid.New(), InApp: true, Mail: true, User: ben, Text: notice.Text{Type: notice.Info, Title: "By mail too", URL: "/"}, At: time.Now()}
	s.do(t, mailed)
	e := h.is("notification", "By mail too")
	s.do(t, notice.ConfirmMail{ID: mailed.ID, At: time.Now()}) // if it was not sent yet
	for !strings.Contains(e.data, `"is_email_sent":true`) {
		e = h.is("notification", "By mail too")
	}
}

func TestWhoComesBackToAStreamIsToldWhatWasMissed(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t).open(t)
	h := s.hear(t, noticeStream, bearer(s.known["ben"])...)
	s.raise(t, ben, "1")
	seen := strconv.FormatInt(h.is("notification", `"title":"1"`).id, 10)
	h.close()
	s.raise(t, ben, "2")
	s.raise(t, ana, "of Ana")
	s.do(t, notice.Delete{ID: s.raise(t, ben, "gone again")})
	again := s.hear(t, noticeStream, append(bearer(s.known["ben"]), "Last-Event-ID", seen)...)
	inQuery := s.hear(t, noticeStream+"?last_event_id="+seen, bearer(s.known["ben"])...)
	s.raise(t, ben, "3")
	for _, h := range []*hearing{again, inQuery} {
		h.is("notification", `"title":"2"`)
		h.is("deleted", "")
		h.is("notification", `"title":"3"`)
	}
}

// Heartbeats carry the present position even without new events.
func TestAHeartbeatCarriesThePosition(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	s.server.Beat(20 * time.Millisecond)
	s.open(t)
	h := s.hear(t, noticeStream, bearer(s.known["ben"])...)
	s.raise(t, ana, "of Ana")
	for deadline := time.After(aMinute); ; {
		select {
		case e := <-h.events:
			if head, _, err := s.Head(t.Context()); err == nil && e.id >= head {
				return
			}
		case <-deadline:
			t.Fatal("the heartbeats stay behind")
		}
	}
}

// The time limits for requests and answers do not apply to streams.
func TestAStreamOutlivesThePatienceForAnswers(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	s.server.Beat(20 * time.Millisecond)
	s.server.Hurry(200 * time.Millisecond)
	s.server.HurryAnswers(200 * time.Millisecond)
	s.open(t)
	h := s.hear(t, noticeStream, bearer(s.known["ben"])...)
	for began := time.Now(); time.Since(began) < time.Second; {
		select {
		case <-h.events:
		case err := <-h.ended:
			t.Fatal(err)
		}
	}
	s.raise(t, ben, "still there")
	h.is("notification", "still there")
}

func TestAStreamEndsWithTheRightsOfItsCaller(t *testing.T) {
	t.Parallel()
	s := openShop(t).stock(t).people(t)
	s.server.Beat(20 * time.Millisecond)
	s.open(t)
	placed := read(t, s.order(t, http.StatusCreated, aHostingOrder))
	following := s.hear(t, "/storefront/api/orders/"+placed.ID+"/events/", "X-API-Key", s.known["key"])
	of := map[string]*hearing{}
	for _, who := range []string{"ana", "ben", "eve"} {
		of[who] = s.hear(t, noticeStream, bearer(s.known[who])...)
	}
	brief := s.hear(t, noticeStream, bearer(s.token(t, eve, with{"exp": time.Now().Add(2 * time.Second).Unix()}))...)
	s.do(t, account.Deactivate{User: ana, At: time.Now()})
	of["ana"].ends()
	s.do(t, account.EndSessions{User: ben, At: time.Now()})
	of["ben"].ends()
	s.do(t, revoke("OpenKey1"))
	s.server.ForgetKey("OpenKey1")
	following.ends()
	brief.ends()
	s.raise(t, eve, "Eve may still listen")
	of["eve"].is("notification", "still")
}

// A shutdown of the program does not wait for open streams.
func TestTheProgramStopsThoughPeopleListen(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.public = "http://" + listener.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stopped := make(chan error, 1)
	go func() { stopped <- s.server.Serve(ctx, listener) }()
	h := s.hear(t, noticeStream, bearer(s.known["ben"])...)
	if n := s.server.Streams(); n != 1 {
		t.Errorf("%d streams are open", n)
	}
	began := time.Now()
	stop()
	h.ends()
	if err := <-stopped; err != nil || time.Since(began) > 15*time.Second || strings.Contains(s.logged.String(), "cut off") {
		t.Errorf("it took %s, %v", time.Since(began), err)
	}
}

func TestOnlySoManyStreamsAreOpenAtATime(t *testing.T) {
	t.Parallel()
	s := openShop(t, func(s *shop) { s.server.Settings.Abuse = true }).stock(t).people(t).open(t)
	placed := read(t, s.order(t, http.StatusCreated, aHostingOrder))
	for _, c := range []struct {
		most    int
		path    string
		headers []string
	}{
		{10, noticeStream, bearer(s.known["ben"])},
		{20, "/storefront/api/orders/" + placed.ID + "/events/", []string{"X-API-Key", s.known["key"]}},
	} {
		var open []*hearing
		for range c.most {
			open = append(open, s.hear(t, c.path, c.headers...))
		}
		more := s.dial(t, c.path, c.headers...)
		if more.answer.StatusCode != http.StatusTooManyRequests || more.answer.Header.Get("Retry-After") != "30" || more.answer.Header.Get("X-Error-Code") != "too_many_streams" {
			t.Fatal(more.answer.Status, more.answer.Header)
		}
		open[0].close()
		s.until(t, "there is room again", func() bool {
			h := s.dial(t, c.path, c.headers...)
			return h.answer.StatusCode == http.StatusOK
		})
	}
	s.hear(t, noticeStream, bearer(s.known["eve"])...) // has a limit of her own
}

func TestAnOrderIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	s := openShop(t).stock(t).open(t)
	placed := read(t, s.order(t, http.StatusCreated, aHostingOrder))
	path := "/storefront/api/orders/" + placed.ID + "/events/"
	key := []string{"X-API-Key", s.known["key"]}
	h := s.hear(t, path, key...)
	if shown := s.call("GET", strings.TrimSuffix(path, "events/"), "", key...).Body.String(); h.is("order", `"status":"payment_processing"`).data != shown {
		t.Error("it is shown as", shown)
	}
	s.press(placed, "action", "pay")
	var before, last heardEvent
	seen := map[string]bool{}
	for !strings.Contains(last.data, `"status":"active"`) {
		before = last
		e := h.next()
		if e.id < last.id || seen[e.data] {
			t.Errorf("%+v after %+v", e, last)
		}
		last, seen[e.data] = e, true
	}
	h.ends()
	if len(seen) < 2 {
		t.Errorf("heard only %v", seen)
	}
	// A client at the last position gets 204; an earlier one is sent the last event.
	again := s.dial(t, path, append(key, "Last-Event-ID", strconv.FormatInt(last.id, 10))...)
	if again.answer.StatusCode != http.StatusNoContent {
		t.Errorf("came back to %s", again.answer.Status)
	}
	for _, headers := range [][]string{key, append(key, "Last-Event-ID", strconv.FormatInt(before.id, 10)), append(key, "Last-Event-ID", "0")} {
		late := s.hear(t, path, headers...)
		late.is("order", `"status":"active"`)
		late.ends()
	}
	s.await(t, placed, order.StatusActive)
}

// A hundred clients connect and disconnect while events arrive, and leave no
// goroutine or subscription behind.
func TestAHundredListenersComeAndGo(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t).open(t)
	people := []string{"ana", "ben", "eve"}
	stop, telling := make(chan struct{}), sync.WaitGroup{}
	telling.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
				s.raise(t, []int64{ana, ben, eve}[n%3], fmt.Sprint(n))
			}
		}
	})
	var coming sync.WaitGroup
	for n := range 100 {
		coming.Go(func() {
			for range 2 {
				h := s.dial(t, noticeStream, bearer(s.known[people[n%3]])...)
				if h.answer.StatusCode == http.StatusOK {
					h.next()
				} else if h.answer.StatusCode != http.StatusTooManyRequests {
					t.Error(h.answer.Status)
				}
				h.close()
			}
		})
	}
	coming.Wait()
	close(stop)
	telling.Wait()
	s.until(t, "everything has gone", func() bool {
		http.DefaultClient.CloseIdleConnections()
		return s.server.Streams() == 0 && s.listeners.Load() == 0 && connections() == 0
	})
}

// connections counts the goroutines that net/http has for connections, of the
// server and of its clients.
func connections() int {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return bytes.Count(stacks, []byte("created by net/http.(*Server).Serve")) + bytes.Count(stacks, []byte("created by net/http.(*Transport)"))
}
