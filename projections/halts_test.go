package projections

import (
	"encoding/json"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

func TestWhatIsHaltedIsNotActiveAndComesBackAsItWas(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	on, off := hosting.Ref{Kind: "site", ID: 1}, hosting.Ref{Kind: "site", ID: 2}
	p.do(t, tenant(5, "Ana SL", "ana"), site(1, 5, "on.example.com", ""), site(2, 5, "off.example.com", ""))
	p.do(t, hosting.Change{Ref: off, Spec: field.Values{"is_active": json.RawMessage("false")}})
	active := func(ref hosting.Ref) (bool, bool) {
		r, err := p.For(Caller{Tenant: 5}).Hosting().Resource(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		var s hosting.Site
		if err := r.Load(&s); err != nil || s.IsActive != r.Active {
			t.Fatal(s, err)
		}
		return r.Active, string(r.Spec["is_active"]) == "true"
	}
	for _, step := range []struct {
		commands []domain.Command
		active   [2]bool
	}{
		{nil, [2]bool{true, false}},
		{
			[]domain.Command{hosting.Disable{Ref: on, By: hosting.ByTenant}, hosting.Disable{Ref: off, By: hosting.ByTenant}},
			[2]bool{false, false},
		},
		{[]domain.Command{hosting.Disable{Ref: on, By: hosting.BySite}}, [2]bool{false, false}},
		{
			[]domain.Command{hosting.Enable{Ref: on, By: hosting.ByTenant}, hosting.Enable{Ref: off, By: hosting.ByTenant}},
			[2]bool{false, false},
		},
		{[]domain.Command{hosting.Enable{Ref: on, By: hosting.BySite}}, [2]bool{true, false}},
	} {
		p.do(t, step.commands...)
		for i, ref := range []hosting.Ref{on, off} {
			runs, wanted := active(ref)
			if runs != step.active[i] || wanted != (i == 0) {
				t.Errorf("after %v %s: %t, %t", step.commands, ref.Stream(), runs, wanted)
			}
			p.agrees(t, ref)
		}
	}
}

func TestWhatIsInTheBinIsGoneForEverybodyButRestorable(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	old, fresh := hosting.Ref{Kind: "site", ID: 1}, hosting.Ref{Kind: "site", ID: 2}
	p.do(t, tenant(5, "Ana SL", "ana"), site(1, 5, "example.com", ""))
	p.do(t, hosting.Confirm{Ref: old, EngineID: 9})
	p.do(t, hosting.MoveToBin{Ref: old})
	p.agrees(t, old)
	scope := p.For(Caller{Tenant: 5})
	if _, err := scope.Hosting().Resource(t.Context(), old); domain.CodeOf(err) != domain.NotFound {
		t.Error(err)
	}
	if found, err := scope.Hosting().Resources(t.Context(), "site", 0); err != nil || len(found) != 0 {
		t.Error(found, err)
	}
	if taken, err := p.For(System).Hosting().NameTaken(t.Context(), "site", "domain", "example.com"); err != nil || taken {
		t.Error(taken, err)
	}
	p.do(t, site(2, 5, "example.com", ""))
	p.refused(t, "domain", "site with this domain already exists.", hosting.Restore{Ref: old})
	p.do(t, hosting.Remove{Ref: fresh})
	p.do(t, hosting.Restore{Ref: old})
	p.agrees(t, old)
	if r, err := scope.Hosting().Resource(t.Context(), old); err != nil || !r.Active || r.TrashedAt != nil {
		t.Error(r, err)
	}
	p.refused(t, "domain", "site with this domain already exists.", site(3, 5, "example.com", ""))
}

func TestARequestIsAcknowledgedByTheEngineAlone(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	ref := hosting.Ref{Kind: "site", ID: 1}
	p.do(t, tenant(5, "Ana SL", "ana"), site(1, 5, "example.com", ""))
	for _, step := range []struct {
		command domain.Command
		wish    int
		want    bool
	}{
		{nil, 1, false},
		{hosting.Confirm{Ref: ref, EngineID: 9}, 1, true},
		{hosting.Change{Ref: ref, Spec: field.Values{"ssl_enabled": json.RawMessage("true")}}, 3, false},
		{hosting.Confirm{Ref: ref, EngineID: 9, Version: 1}, 3, false},
		{hosting.Decline{Ref: ref, Code: "invalid"}, 3, true},
		{hosting.MoveToBin{Ref: ref}, 5, false},
		{hosting.Confirm{Ref: ref, EngineID: 9}, 5, true},
		{hosting.Remove{Ref: ref}, 7, false},
		{hosting.Confirm{Ref: ref}, 7, true},
	} {
		if step.command != nil {
			p.do(t, step.command)
		}
		got, err := p.For(Caller{Tenant: 5}).Hosting().Acknowledged(t.Context(), ref, step.wish)
		if err != nil || got != step.want {
			t.Errorf("after %+v wish %d: %t, %v", step.command, step.wish, got, err)
		}
	}
	if got, err := p.For(Caller{Tenant: 6}).Hosting().Acknowledged(t.Context(), ref, 1); err != nil || got {
		t.Error("of another tenant", got, err)
	}
}
