//go:build system

package faults_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/sealing"
	"hostpanel/projections"
	"hostpanel/tests/processtest"
)

// A client listens at one of two processes, which is killed, goes on at the
// other one, which is killed in its turn; all the while things happen. The seed
// of a run is printed; HOSTPANEL_FAULT_SEED chooses it.
func TestWhoListensMissesNothingHoweverOftenTheProgramIsKilled(t *testing.T) {
	t.Parallel()
	const news, kills = 120, 2
	const every = news / (kills + 1)
	seed := number64(t, "HOSTPANEL_FAULT_SEED", time.Now().UnixNano())
	t.Logf("HOSTPANEL_FAULT_SEED=%d", seed)
	chance := rand.New(rand.NewPCG(uint64(seed), 2))
	secret, database := sealing.NewSecretKey(), eventstoretest.Database(t, "empty", nil)
	var homes [2]processtest.Home
	var runs [2]*processtest.Process
	for i := range homes {
		homes[i] = processtest.OwnHome(t)
		homes[i].Env = []string{
			"DATABASE_URL=" + database, "HOSTPANEL_SECRET_KEY=" + secret,
			"HOSTPANEL_ADMIN_PASSWORD=" + secret,
		}
		runs[i] = homes[i].Serving("--listen", "127.0.0.1:0")
	}
	p := processtest.Teller(t, database, secret)
	admin, _, err := p.Tables.For(projections.System).Accounts().UserByEmail(t.Context(), "admin@localhost")
	if err != nil {
		t.Fatal(err)
	}
	l := &listener{
		token: runs[0].SignIn(serve.Login{Username: admin.Email, Password: secret}).Field(t, "access"),
		at:    runs[0].Base, changed: make(chan struct{}, 1),
	}
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() { l.listen(ctx) })
	l.await(t, "a connection listens", func() bool { return l.connections > 0 })
	var want []string
	heard := func(n int) func() bool { return func() bool { return len(l.heard) >= n } }
	for n := range news {
		title := fmt.Sprint("news ", n)
		want = append(want, title)
		told := notice.Raise{
			ID: uuid.New(), InApp: true, User: admin.ID,
			Text: notice.Text{Type: notice.Info, Title: title, Message: "It has happened.", URL: "/"}, At: time.Now(),
		}
		if _, err := p.Store.Execute(t.Context(), domain.Metadata{Actor: "system:test"}, told); err != nil {
			t.Fatal(err)
		}
		if n%every != every-1 || n == news-1 {
			continue
		}
		l.await(t, "the news are heard", heard(n+1-chance.IntN(4))) // some are on their way
		doomed := (n / every) % 2
		l.moveTo(runs[1-doomed].Base)
		runs[doomed].End(syscall.SIGKILL)
		runs[doomed] = homes[doomed].Serving("--listen", "127.0.0.1:0")
	}
	l.await(t, "everything is heard", heard(news))
	stop()
	all.Wait()
	if !slices.Equal(l.heard, want) || !slices.IsSorted(l.ids) {
		t.Errorf("after %d connections, heard %v\nat %v", l.connections, l.heard, l.ids)
	}
	if l.connections < kills+1 {
		t.Errorf("%d connections are no trial", l.connections)
	}
	for _, r := range runs {
		r.Stop()
	}
}

// A listener comes back as long as there is a process.
type listener struct {
	token string

	mu          sync.Mutex
	at          string // URL
	heard       []string
	ids         []int64
	connections int
	changed     chan struct{}
}

func (l *listener) moveTo(base string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at = base
}

// await waits until something is so.
func (l *listener) await(t *testing.T, what string, so func() bool) {
	t.Helper()
	processtest.Eventually(t, what, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return so()
	})
}

func (l *listener) listen(ctx context.Context) {
	for last := ""; ctx.Err() == nil; {
		last = l.connect(ctx, last)
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// connect hears what there is behind an id, until the connection ends.
func (l *listener) connect(ctx context.Context, last string) string {
	l.mu.Lock()
	base := l.at
	l.mu.Unlock()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/notifications/api/v1/notifications/stream/",
		http.NoBody)
	if err != nil {
		return last
	}
	q.Header.Set("Authorization", "Bearer "+l.token)
	if last != "" {
		q.Header.Set("Last-Event-ID", last)
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return last
	}
	defer func() { _ = a.Body.Close() }()
	if a.StatusCode != http.StatusOK {
		return last
	}
	l.mu.Lock()
	l.connections++
	l.mu.Unlock()
	id, data := last, ""
	for lines := bufio.NewScanner(a.Body); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			id = value
		case "data":
			data = value
		case "": // an event is over
			last = id
			l.hear(id, data)
			data = ""
		}
	}
	return last
}

func (l *listener) hear(id, data string) {
	if data == "" { // a sign of life
		return
	}
	var shown struct{ Title string }
	var at int64
	if json.Unmarshal([]byte(data), &shown) != nil || json.Unmarshal([]byte(id), &at) != nil {
		shown.Title = "not understood: " + data
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard, l.ids = append(l.heard, shown.Title), append(l.ids, at)
}
