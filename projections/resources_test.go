package projections

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

func TestAResourceShowsHowFarTheEngineIs(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	ref := hosting.Ref{Kind: "site", ID: 42}
	p.do(t, tenant(5, "Ana SL", "ana"), site(42, 5, "example.com", ""))
	for _, step := range []struct {
		command domain.Command
		status  hosting.Status
		sync    string
	}{
		{hosting.Decline{Ref: ref, Code: "name_taken"}, hosting.Refused, "error"},
		{hosting.Change{Ref: ref, Spec: field.Values{"ssl_enabled": json.RawMessage("true")}}, hosting.Wanted, "pending"},
		{
			hosting.Confirm{Ref: ref, EngineID: 9, Observed: field.Values{"document_root": json.RawMessage(`"/var/www/42"`)}},
			hosting.Running, "synced",
		},
		{hosting.Change{Ref: ref, Spec: field.Values{"ssl_enabled": json.RawMessage("false")}}, hosting.Changing, "pending"},
		{hosting.Confirm{Ref: ref, EngineID: 9}, hosting.Running, "synced"},
	} {
		p.do(t, step.command)
		r, err := p.For(Caller{Tenant: 5}).Hosting().Resource(t.Context(), ref)
		if err != nil || r.Status != step.status || r.SyncStatus != step.sync {
			t.Fatalf("after %T: %+v, %v", step.command, r, err)
		}
		p.agrees(t, ref)
	}
	r, err := p.For(Caller{Tenant: 5}).Hosting().Resource(t.Context(), ref)
	var s hosting.Site
	if err == nil {
		err = r.Load(&s)
	}
	if err != nil || s.Domain != "example.com" || s.DocumentRoot != "/var/www/42" || r.TenantName != "Ana SL" || *r.EngineID != 9 {
		t.Fatal(r, s, err)
	}
}

// What changes often is in no index, nor in the condition of one: Postgres changes such a row in
// place. Otherwise each change wrote some ten indexes, and left ten entries for its vacuum.
func TestWhatChangesOftenIsInNoIndexOfResources(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	rows, _ := p.owner.Query(t.Context(), `select distinct i.relname || ' has ' || a.attname from pg_depend d
		join pg_class i on i.oid = d.objid and i.relkind = 'i'
		join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
		where d.refobjid = 'resources'::regclass and a.attname in ('spec', 'status', 'wish', 'sync_status', 'sync_error',
			'disabled_by', 'active', 'synced_at', 'updated_at', 'version')`)
	if found, err := pgx.CollectRows(rows, pgx.RowTo[string]); err != nil || len(found) > 0 {
		t.Error(found, err)
	}
}

// agrees checks that the row says what the fold of the stream says.
func (p *panel) agrees(t *testing.T, ref hosting.Ref) {
	t.Helper()
	folded, _, err := foldOf(t, p, ref)
	if err != nil {
		t.Fatal(err)
	}
	var status, syncError string
	var wish, version int
	err = p.owner.QueryRow(
		t.Context(), `select status, sync_error, wish, version from resources where kind = $1 and id = $2`, ref.Kind,
		ref.ID,
	).
		Scan(&status, &syncError, &wish, &version)
	if err != nil || hosting.Status(status) != folded.Status || syncError != folded.Code || wish != folded.Wish ||
		version != folded.Version {
		t.Fatalf("row: %s %s %d %d, fold: %+v, %v", status, syncError, wish, version, folded, err)
	}
}

func TestAnAnswerToAnEarlierRequestLeavesTheLaterOneOpen(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	ref := hosting.Ref{Kind: "site", ID: 42}
	p.do(t, site(42, 5, "example.com", ""))
	p.do(t, hosting.Change{Ref: ref, Spec: field.Values{"ssl_enabled": json.RawMessage("true")}})
	p.do(t, hosting.Confirm{Ref: ref, EngineID: 9, Version: 1})
	r, err := p.For(System).Hosting().Resource(t.Context(), ref)
	if err != nil || r.Status != hosting.Changing || r.SyncStatus != "pending" || *r.EngineID != 9 {
		t.Fatal(r, err)
	}
	p.agrees(t, ref)
}

func TestResourcesOfOtherTenantsAreInvisible(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, site(1, 5, "five.example.com", ""))
	p.do(t, site(2, 6, "six.example.com", ""))
	for _, c := range []struct {
		caller  Caller
		lists   int
		reaches bool // site 2
	}{
		{Caller{User: 1, Tenant: 5}, 1, false},
		{Caller{User: 1, Tenant: 6}, 1, true},
		{Caller{User: 1}, 0, false}, // without an active tenant
		{Caller{}, 0, false},
		{Caller{KeyOwner: 6}, 0, false},
		{Caller{User: 1, Superuser: true}, 2, true},
		{Caller{User: 1, Superuser: true, Tenant: 5}, 1, true},
		{System, 2, true},
	} {
		found, err := p.For(c.caller).Hosting().Resources(t.Context(), "site", 0)
		if err != nil || len(found) != c.lists {
			t.Errorf("%+v lists %v: %v", c.caller, found, err)
		}
		_, err = p.For(c.caller).Hosting().Resource(t.Context(), hosting.Ref{Kind: "site", ID: 2})
		if c.reaches != (err == nil) || !c.reaches && err.Error() != "No Site matches the given query." {
			t.Errorf("%+v: %v", c.caller, err)
		}
	}
}

func TestAResourceThatLeavesIsNoMore(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	ref := hosting.Ref{Kind: "site", ID: 1}
	made := uuid.New()
	p.do(t, site(1, 5, "example.com", "order:"+made.String()))
	p.do(t, hosting.Confirm{Ref: ref, EngineID: 9})
	p.do(t, hosting.Remove{Ref: ref})
	p.agrees(t, ref)
	if _, err := p.For(System).Hosting().Resource(t.Context(), ref); domain.CodeOf(err) != domain.NotFound {
		t.Fatal(err)
	}
	p.do(t, hosting.Confirm{Ref: ref})
	p.agrees(t, ref)
	all, err := p.For(System).Hosting().ResourcesOfOrder(t.Context(), made)
	if err != nil || len(all) != 1 || all[0].Status != hosting.Gone {
		t.Fatal(all, err)
	}
}
