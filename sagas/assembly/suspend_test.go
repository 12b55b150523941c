package assembly_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
)

func (w *world) reasons(ref hosting.Ref) []string {
	w.t.Helper()
	r, _, err := eventstore.Fold(w.t.Context(), w.store, hosting.Decider, ref.Stream())
	w.must(err)
	return r.DisabledBy
}

// The suspension of a tenant disables all its resources, including one that is
// created at the same time.
func TestWhatComesToATenantAsItIsSuspendedRestsToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	tenant := w.tenant(1, 11)
	status := func(s string) hosting.Change {
		return hosting.Change{Ref: tenant, Spec: field.Values{"status": field.AppendText(nil, s)}}
	}
	add := func(kind string, id int64) hosting.Ref {
		ref := hosting.Ref{Kind: kind, ID: id}
		w.does(hosting.Request{Ref: ref, Tenant: 1, Spec: field.Values{"is_active": []byte("true"), "domain": field.AppendText(nil, fmt.Sprint(kind, id, ".example"))}, For: "test"})
		return ref
	}
	first, zone := add("site", 1), add("dns_zone", 1)
	binned := add("site", 3)
	w.does(hosting.MoveToBin{Ref: binned})
	w.does(status(hosting.Suspended))
	after := add("mail_domain", 1)
	w.goes()
	w.eventually("everything rests", func() bool { return len(w.reasons(first))+len(w.reasons(after))+len(w.reasons(binned)) == 3 })
	w.equal("reasons of the zone", w.reasons(zone), []string(nil))

	late := add("database", 2)
	w.eventually("what comes later rests too", func() bool { return len(w.reasons(late)) == 1 })
	w.does(status(hosting.InService))
	w.eventually("nothing rests any more", func() bool {
		return len(w.reasons(first))+len(w.reasons(after))+len(w.reasons(late))+len(w.reasons(binned)) == 0
	})

	// It goes by how things are, however often it is asked.
	const followed = `select count(*) from events where name in ('hosting.disabled', 'hosting.enabled')`
	before := w.count(followed)
	history, err := w.store.Read(t.Context(), after.Stream())
	w.must(err)
	w.must(w.React(t.Context(), history[0]))
	w.equal("events after a repeat", w.count(followed), before)
}

// Records with frequent changes are suspended with their tenant too, and do not
// delay others.
func TestWhatIsBusyFollowsItsTenantToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pauses("engine:one") // which is not what this is about
	tenant := w.tenant(1, 11)
	const sites = 8
	for n := range int64(sites) {
		w.does(hosting.Request{Ref: hosting.Ref{Kind: "site", ID: n}, Tenant: 1, Spec: (&hosting.Site{Domain: fmt.Sprint("s", n, ".example"), IsActive: true}).Fields().Values(), For: "test"})
	}
	w.goes()
	ctx, halt := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for n := range int64(sites) {
		writers.Go(func() { w.keepsWriting(ctx, hosting.Ref{Kind: "site", ID: n}) })
	}
	const resting = `select count(*) from resources where kind = 'site' and 'tenant' = any(disabled_by)`
	for _, state := range []struct {
		status string
		rest   int
	}{{hosting.Suspended, sites}, {hosting.InService, 0}} {
		w.does(hosting.Change{Ref: tenant, Spec: field.Values{"status": field.AppendText(nil, state.status)}})
		w.eventually("the sites do as their tenant", func() bool { return w.count(resting) == state.rest })
	}
	halt()
	writers.Wait()
	w.equal("given up", w.count(`select count(*) from poisoned`), 0)
}

// keepsWriting changes a site again and again, as a busy customer does.
func (w *world) keepsWriting(ctx context.Context, site hosting.Ref) {
	for n := 0; ctx.Err() == nil; n++ {
		address := field.AppendText(nil, fmt.Sprint("192.0.2.", n%2+1))
		_, err := w.store.Execute(ctx, domain.Metadata{Actor: "user:1"}, hosting.Change{Ref: site, Spec: field.Values{"ip_address": address}})
		if err != nil && ctx.Err() == nil && domain.CodeOf(err) != domain.Conflict {
			w.t.Error(err)
		}
		clock.Pausing(ctx, 10*time.Millisecond, nil)
	}
}

// The removal of a site to the bin disables its parts, including one that is created
// at the same time.
func TestWhatComesToASiteAsItIsThrownAwayRestsToo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tenant(1, 11)
	site := hosting.Ref{Kind: "site", ID: 1}
	w.does(hosting.Request{Ref: site, Tenant: 1, Spec: field.Values{"is_active": []byte("true"), "domain": field.AppendText(nil, "a.example")}, For: "test"})
	account := func(id int64) hosting.Ref {
		ref := hosting.Ref{Kind: "ftp_account", ID: id}
		w.does(hosting.Request{Ref: ref, Tenant: 1, Spec: field.Values{"is_active": []byte("true"), "site": []byte("1"), "username": field.AppendText(nil, fmt.Sprint("u", id))}, For: "test"})
		return ref
	}
	early := account(1)
	w.does(hosting.MoveToBin{Ref: site})
	late := account(2)
	w.goes()
	w.eventually("both rest", func() bool { return len(w.reasons(early))+len(w.reasons(late)) == 2 })
	w.equal("reason", w.reasons(late), []string{hosting.BySite})
}
