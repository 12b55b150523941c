package eventstore_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// A name that one process tells reaches the others, and not the process itself. Too many
// names for a NOTIFY are told as one blank name.
func TestNamesAreToldToOtherProcesses(t *testing.T) {
	here := newStore(t)
	elsewhere := eventstore.Open(here.Pool(), facts, eventstoretest.Keys(t), eventstoretest.Caused())
	told := make(chan string, 1000)
	here.OnTold(func(name string) { told <- name })
	elsewhere.OnTold(func(name string) { t.Errorf("told itself of %q", name) })
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { here.Follow(ctx) })
	wg.Go(func() { elsewhere.Follow(ctx) })
	defer wg.Wait()
	defer stop()
	for _, c := range []struct{ tell, hear string }{{"queue mail", "queue mail"}, {strings.Repeat("long", 2000), ""}} {
		for deadline := time.After(time.Minute); ; {
			elsewhere.TellOthers(c.tell)
			select {
			case name := <-told:
				if name == c.hear {
					break
				}
				continue // told before
			case <-time.After(50 * time.Millisecond): // not listening yet: once more
				continue
			case <-deadline:
				t.Fatalf("never told of %.20q", c.tell)
			}
			break
		}
	}
}
