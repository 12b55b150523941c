package hints_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"hostpanel/eventstore/eventstoretest"
	"hostpanel/eventstore/hints"
)

// A process hears on two channels, and sends what it has heard to said.
type process struct {
	*hints.Hints
	said chan string
	err  chan error // what the next hint is answered; empty: nil
}

func begin(t *testing.T, url string) *process {
	t.Helper()
	p := &process{hints.New(eventstoretest.Pool(t, url), slog.Default()), make(chan string, 1000), make(chan error, 1)}
	for _, channel := range []string{"till", "Shop window"} {
		p.Hear(channel, func(_ context.Context, text string) error {
			var answer error
			select {
			case answer = <-p.err:
			default:
			}
			p.said <- channel + ":" + text // the test goes on, and prepares the answer to the next
			return answer
		})
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { p.Follow(ctx); close(ended) }()
	t.Cleanup(func() { stop(); <-ended })
	p.begins(t)
	return p
}

// begins waits until the process listens.
func (p *process) begins(t *testing.T) {
	t.Helper()
	p.hears(t, "till:", "Shop window:")
}

// hears waits for all of the texts, and for no others, in any order.
func (p *process) hears(t *testing.T, texts ...string) {
	t.Helper()
	missing := map[string]bool{}
	for _, text := range texts {
		missing[text] = true
	}
	for len(missing) > 0 {
		select {
		case text := <-p.said:
			if !missing[text] {
				t.Fatalf("heard %q, and not yet %v", text, missing)
			}
			delete(missing, text)
		case <-time.After(30 * time.Second):
			t.Fatalf("not heard: %v", missing)
		}
	}
}

func TestOtherProcessesHearWhatOneTells(t *testing.T) {
	t.Parallel()
	url := eventstoretest.URL(t)
	teller, others := begin(t, url), []*process{begin(t, url), begin(t, url)}
	teller.Tell("till", "one")
	for _, p := range others {
		p.hears(t, "till:one")
	}
	teller.Tell("till", "two")
	teller.Tell("Shop window", "")
	teller.Tell("till", "three")
	for _, p := range others {
		p.hears(t, "till:two", "till:three", "Shop window:")
	}
	others[0].Tell("till", "four")
	others[1].hears(t, "till:four")
	teller.hears(t, "till:four") // and nothing of its own before
}

func TestWhoIsToldTooMuchLooksAtEverything(t *testing.T) {
	t.Parallel()
	url := eventstoretest.URL(t)
	here := hints.New(eventstoretest.Pool(t, url), slog.Default())
	there := begin(t, url)
	for n := range 100 { // nothing is sent yet
		here.Tell("till", strings.Repeat(fmt.Sprint(n%10), 80)+fmt.Sprint(n))
	}
	for range 3 {
		here.Tell("Shop window", "one") // once is enough
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { here.Follow(ctx); close(ended) }()
	there.hears(t, "till:", "Shop window:one")
	here.Tell("Shop window", "two")
	there.hears(t, "Shop window:two")
	stop()
	<-ended
}

// A statement may tell in its own transaction, so that the hint is told with what it has
// changed or not at all.
func TestAStatementTellsByItself(t *testing.T) {
	t.Parallel()
	url := eventstoretest.URL(t)
	there := begin(t, url)
	if _, err := eventstoretest.Pool(t, url).Exec(t.Context(), `select pg_notify('till', '')`); err != nil {
		t.Fatal(err)
	}
	there.hears(t, "till:")
}

func TestAProcessThatHasNotHeardLooksAtEverything(t *testing.T) {
	t.Parallel()
	url := eventstoretest.URL(t)
	p := begin(t, url)
	var ended int
	if err := eventstoretest.Owner(t, url).QueryRow(t.Context(), `
		select count(*) from (select pg_terminate_backend(pid, 10000) from pg_stat_activity
		where datname = current_database() and query ilike 'listen %') ended`).Scan(&ended); err != nil || ended != 1 {
		t.Fatal(ended, err)
	}
	p.begins(t)

	p.err <- errors.New("the disk is full") // so what was told has not been taken
	other := begin(t, url)
	other.Tell("till", "one")
	p.hears(t, "till:one")
	p.begins(t)
}
