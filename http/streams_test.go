package http_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/paneltest"
)

func TestUsersHearWhatBecomesOfTheirNotifications(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Told(t).Start(t)
	h := s.Stream(t, paneltest.NoticeStream, paneltest.Bearer(s.Known["ben"])...)
	s.Raise(t, paneltest.Ana, "For Ana alone")
	id := s.Raise(t, paneltest.Ben, "A fourth")
	as := func(method, path, body string) *httptest.ResponseRecorder {
		return s.Call(method, path, body, paneltest.Bearer(s.Known["ben"])...)
	}
	first := h.Is("notification", `"title":"A fourth"`)
	if shown := as("GET", "/notifications/api/v1/notifications/"+id.String()+"/", "").Body.String(); shown != first.Data {
		t.Errorf("heard %s, shown %s", first.Data, shown)
	}
	path := "/notifications/api/v1/notifications/" + id.String() + "/"
	as("PATCH", path+"mark_read/", "")
	h.Is("notification", `"is_read":true`)
	as("PATCH", path, `{"is_read":false}`)
	h.Is("notification", `"is_read":false`)
	as("PATCH", "/notifications/api/v1/notifications/mark_all_read/", "")
	h.Is("all_read", `{"through":"20`)
	as("DELETE", path, "")
	if last := h.Is("deleted", `{"id":"`+id.String()+`"}`); last.ID < first.ID+4 {
		t.Errorf("from %d to %d", first.ID, last.ID)
	}
	mailed := notice.Raise{
		ID: uuid.New(), InApp: true, Mail: true, User: paneltest.Ben,
		Text: notice.Text{Type: notice.Info, Title: "By mail too", URL: "/"}, At: time.Now(),
	}
	s.Do(t, mailed)
	e := h.Is("notification", "By mail too")
	s.Do(t, notice.ConfirmMail{ID: mailed.ID, At: time.Now()}) // if it was not sent yet
	for !strings.Contains(e.Data, `"is_email_sent":true`) {
		e = h.Is("notification", "By mail too")
	}
}

func TestWhoComesBackToAStreamIsToldWhatWasMissed(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t).Start(t)
	h := s.Stream(t, paneltest.NoticeStream, paneltest.Bearer(s.Known["ben"])...)
	s.Raise(t, paneltest.Ben, "1")
	seen := strconv.FormatInt(h.Is("notification", `"title":"1"`).ID, 10)
	h.Close()
	s.Raise(t, paneltest.Ben, "2")
	s.Raise(t, paneltest.Ana, "of Ana")
	s.Do(t, notice.Delete{ID: s.Raise(t, paneltest.Ben, "gone again")})
	again := s.Stream(t, paneltest.NoticeStream, append(paneltest.Bearer(s.Known["ben"]), "Last-Event-ID", seen)...)
	inQuery := s.Stream(t, paneltest.NoticeStream+"?last_event_id="+seen, paneltest.Bearer(s.Known["ben"])...)
	s.Raise(t, paneltest.Ben, "3")
	for _, h := range []*paneltest.EventStream{again, inQuery} {
		h.Is("notification", `"title":"2"`)
		h.Is("deleted", "")
		h.Is("notification", `"title":"3"`)
	}
}

// Heartbeats carry the present position even without new events.
func TestAHeartbeatCarriesThePosition(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Server.Settings.Heartbeat = 20 * time.Millisecond
	s.Start(t)
	h := s.Stream(t, paneltest.NoticeStream, paneltest.Bearer(s.Known["ben"])...)
	s.Raise(t, paneltest.Ana, "of Ana")
	for deadline := time.After(time.Minute); ; {
		select {
		case e := <-h.Events:
			if head, _, err := s.Reader().Head(t.Context()); err == nil && e.ID >= head {
				return
			}
		case <-deadline:
			t.Fatal("the heartbeats stay behind")
		}
	}
}

// A shutdown of the program does not wait for open streams.
func TestTheProgramStopsThoughPeopleListen(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.Public = "http://" + listener.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stopped := make(chan error, 1)
	go func() { stopped <- s.Server.Serve(ctx, listener) }()
	h := s.Stream(t, paneltest.NoticeStream, paneltest.Bearer(s.Known["ben"])...)
	if n := s.Server.Streams(); n != 1 {
		t.Errorf("%d streams are open", n)
	}
	began := time.Now()
	stop()
	h.Ends()
	if err := <-stopped; err != nil || time.Since(began) > 15*time.Second ||
		strings.Contains(s.Logged.String(), "cut off") {
		t.Errorf("it took %s, %v", time.Since(began), err)
	}
}

func TestOnlySoManyStreamsAreOpenAtATime(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, func(s *paneltest.Shop) { s.Server.Settings.Abuse = true }).Stock(t).People(t).Start(t)
	placed := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.HostingOrder))
	for _, c := range []struct {
		most    int
		path    string
		headers []string
	}{
		{10, paneltest.NoticeStream, paneltest.Bearer(s.Known["ben"])},
		{20, "/storefront/api/orders/" + placed.ID + "/events/", []string{"X-API-Key", s.Known["key"]}},
	} {
		var open []*paneltest.EventStream
		for range c.most {
			open = append(open, s.Stream(t, c.path, c.headers...))
		}
		more := s.Dial(t, c.path, c.headers...)
		if more.Answer.StatusCode != http.StatusTooManyRequests || more.Answer.Header.Get("Retry-After") != "30" ||
			more.Answer.Header.Get("X-Error-Code") != "too_many_streams" {
			t.Fatal(more.Answer.Status, more.Answer.Header)
		}
		open[0].Close()
		s.Until(t, "there is room again", func() bool {
			h := s.Dial(t, c.path, c.headers...)
			return h.Answer.StatusCode == http.StatusOK
		})
	}
	s.Stream(t, paneltest.NoticeStream, paneltest.Bearer(s.Known["eve"])...) // has a limit of her own
}

func TestAnOrderIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t).Start(t)
	placed := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.HostingOrder))
	path := "/storefront/api/orders/" + placed.ID + "/events/"
	key := []string{"X-API-Key", s.Known["key"]}
	h := s.Stream(t, path, key...)
	if shown := s.Call("GET", strings.TrimSuffix(path, "events/"), "", key...).Body.String(); h.Is("order",
		`"status":"payment_processing"`).Data != shown {
		t.Error("it is shown as", shown)
	}
	s.Press(placed, "action", "pay")
	var before, last paneltest.StreamEvent
	seen := map[string]bool{}
	for !strings.Contains(last.Data, `"status":"active"`) {
		before = last
		e := h.Next()
		if e.ID < last.ID || seen[e.Data] {
			t.Errorf("%+v after %+v", e, last)
		}
		last, seen[e.Data] = e, true
	}
	h.Ends()
	if len(seen) < 2 {
		t.Errorf("heard only %v", seen)
	}
	// A client at the last position gets 204; an earlier one is sent the last event.
	again := s.Dial(t, path, append(key, "Last-Event-ID", strconv.FormatInt(last.ID, 10))...)
	if again.Answer.StatusCode != http.StatusNoContent {
		t.Errorf("came back to %s", again.Answer.Status)
	}
	for _, headers := range [][]string{
		key, append(key, "Last-Event-ID", strconv.FormatInt(before.ID, 10)),
		append(key, "Last-Event-ID", "0"),
	} {
		late := s.Stream(t, path, headers...)
		late.Is("order", `"status":"active"`)
		late.Ends()
	}
	s.Await(t, placed, order.StatusActive)
}

// connections counts the goroutines that net/http has for connections, of the
// server and of its clients.
func connections() int {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return bytes.Count(stacks, []byte("created by net/http.(*Server).Serve")) + bytes.Count(stacks,
		[]byte("created by net/http.(*Transport)"))
}
