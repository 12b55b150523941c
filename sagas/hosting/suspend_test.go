package hosting_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/clock"
	"hostpanel/sagas/sagastest"
)

// The suspension of a tenant disables all its resources, including one that is
// created at the same time.
func TestWhatComesToATenantAsItIsSuspendedRestsToo(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	tenant := w.Tenant(1, 11)
	status := func(s string) hosting.Change {
		return hosting.Change{Ref: tenant, Spec: field.Values{"status": field.AppendText(nil, s)}}
	}
	add := func(kind string, id int64) hosting.Ref {
		ref := hosting.Ref{Kind: kind, ID: id}
		w.Does(
			hosting.Request{
				Ref: ref, Tenant: 1,
				Spec: field.Values{"is_active": []byte("true"), "domain": field.AppendText(nil, fmt.Sprint(kind, id, ".example"))},
				For:  "test",
			},
		)
		return ref
	}
	first, zone := add("site", 1), add("dns_zone", 1)
	binned := add("site", 3)
	w.Does(hosting.MoveToBin{Ref: binned})
	w.Does(status(hosting.Suspended))
	after := add("mail_domain", 1)
	w.Goes()
	w.Eventually("everything rests", func() bool { return len(w.Reasons(first))+len(w.Reasons(after))+len(w.Reasons(binned)) == 3 })
	w.Equal("reasons of the zone", w.Reasons(zone), []string(nil))

	late := add("database", 2)
	w.Eventually("what comes later rests too", func() bool { return len(w.Reasons(late)) == 1 })
	w.Does(status(hosting.InService))
	w.Eventually("nothing rests any more", func() bool {
		return len(w.Reasons(first))+len(w.Reasons(after))+len(w.Reasons(late))+len(w.Reasons(binned)) == 0
	})

	// It goes by how things are, however often it is asked.
	const followed = `select count(*) from events where name in ('hosting.disabled', 'hosting.enabled')`
	before := w.Count(followed)
	history, err := w.Store.Read(t.Context(), after.Stream())
	w.Must(err)
	w.Must(w.Runner.Reactions.React(t.Context(), history[0]))
	w.Equal("events after a repeat", w.Count(followed), before)
}

// keepsWriting changes a site again and again, as a busy customer does.
func keepsWriting(w *sagastest.World, ctx context.Context, site hosting.Ref) {
	for n := 0; ctx.Err() == nil; n++ {
		address := field.AppendText(nil, fmt.Sprint("192.0.2.", n%2+1))
		_, err := w.Store.Execute(
			ctx, domain.Metadata{Actor: "user:1"},
			hosting.Change{Ref: site, Spec: field.Values{"ip_address": address}},
		)
		if err != nil && ctx.Err() == nil && domain.CodeOf(err) != domain.Conflict {
			w.T.Error(err)
		}
		clock.Pausing(ctx, 10*time.Millisecond, nil)
	}
}

// The removal of a site to the bin disables its parts, including one that is created
// at the same time.
func TestWhatComesToASiteAsItIsThrownAwayRestsToo(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Tenant(1, 11)
	site := hosting.Ref{Kind: "site", ID: 1}
	w.Does(
		hosting.Request{
			Ref: site, Tenant: 1,
			Spec: field.Values{"is_active": []byte("true"), "domain": field.AppendText(nil, "a.example")}, For: "test",
		},
	)
	account := func(id int64) hosting.Ref {
		ref := hosting.Ref{Kind: "ftp_account", ID: id}
		w.Does(
			hosting.Request{
				Ref: ref, Tenant: 1,
				Spec: field.Values{
					"is_active": []byte("true"), "site": []byte("1"),
					"username": field.AppendText(nil, fmt.Sprint("u", id)),
				},
				For: "test",
			},
		)
		return ref
	}
	early := account(1)
	w.Does(hosting.MoveToBin{Ref: site})
	late := account(2)
	w.Goes()
	w.Eventually("both rest", func() bool { return len(w.Reasons(early))+len(w.Reasons(late)) == 2 })
	w.Equal("reason", w.Reasons(late), []string{hosting.BySite})
}
