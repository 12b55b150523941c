package hosting_test

import (
	"slices"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

var (
	halt     = hosting.Disable{Ref: site, By: hosting.ByTenant}
	release  = hosting.Enable{Ref: site, By: hosting.ByTenant}
	halted   = hosting.Disabled{By: hosting.ByTenant}
	released = hosting.Enabled{By: hosting.ByTenant}
	trashed  = hosting.MovedToBin{}
)

func TestAResourceIsHaltedOnceForEachReason(t *testing.T) {
	given(t, requested, made).When(halt).Then(halted)
	given(t, requested, made, halted).When(halt).Then()
	given(t, requested, made, halted).When(hosting.Disable{Ref: site, By: hosting.BySite}).Then(hosting.Disabled{By: hosting.BySite})
	given(t, requested, made, halted).When(release).Then(released)
	given(t, requested, made, halted, released).When(release).Then()
	given(t, requested, made).When(release).Then()
	given(t).When(halt).ThenRefused(domain.NotFound, "No Site matches the given query.")
	r := hosting.Decider.Replay(requested, made, halted, hosting.Disabled{By: hosting.BySite}, released)
	if !slices.Equal(r.DisabledBy, []string{hosting.BySite}) || r.Status != hosting.Changing || r.Wish != 5 {
		t.Errorf("%+v", r)
	}
}

func TestWhatLeavesIsNotHaltedAnyMore(t *testing.T) {
	for _, c := range []hosting.Command{halt, release, hosting.MoveToBin{Ref: site}} {
		given(t, requested, made, halted, leaving).When(c).Then()
		given(t, requested, made, halted, leaving, hosting.Removed{}).When(c).Then()
	}
}

func TestDisablingIsARequestToTheEngine(t *testing.T) {
	stands(t, hosting.Changing, requested, made, halted)
	stands(t, hosting.Wanted, requested, halted) // it has yet to be made
	given(t, requested, made, halted).When(confirm(1)).Then()
	stands(t, hosting.Running, requested, made, halted, confirmed(3))
}

func TestDNSGoesOnWhateverHappensToItsTenant(t *testing.T) {
	zone := hosting.Requested{Kind: "dns_zone", Tenant: 17}
	given(t, zone).When(hosting.Disable{Ref: hosting.Ref{Kind: "dns_zone", ID: 3}, By: hosting.ByTenant}).Then()
}

func TestNothingIsHaltedForNoReason(t *testing.T) {
	if _, err := hosting.Decider.Decide(hosting.Decider.Replay(requested), hosting.Disable{Ref: site, By: "mood"}); err == nil ||
		domain.CodeOf(err) != "" {
		t.Error(err)
	}
}

func TestWhatIsInTheBinComesBackAsItWas(t *testing.T) {
	given(t, requested, made).When(hosting.MoveToBin{Ref: site}).Then(trashed)
	given(t, requested, made, trashed).When(hosting.MoveToBin{Ref: site}).Then()
	given(t, requested, made, trashed).When(hosting.Restore{Ref: site}).Then(hosting.Restored{})
	given(t, requested, made).When(hosting.Restore{Ref: site}).Then()
	given(t, requested, made, trashed).When(hosting.Change{Ref: site, Spec: off}).ThenRefused(
		domain.NotFound, "No Site matches the given query.",
	)
	given(t, requested, made, trashed).When(hosting.Remove{Ref: site}).Then(leaving)
	given(t, requested, made, trashed, leaving).When(hosting.Restore{Ref: site}).ThenRefused(
		domain.NotFound, "No Site matches the given query.",
	)
	stands(t, hosting.Changing, requested, made, trashed)
	if hosting.Decider.Replay(requested, made, trashed, hosting.Restored{}).Trashed {
		t.Error("still in the bin")
	}
}

func TestOnlySomeKindsHaveABin(t *testing.T) {
	ftp := hosting.Ref{Kind: "ftp_account", ID: 3}
	_, err := hosting.Decider.Decide(
		hosting.Decider.Replay(hosting.Requested{Kind: "ftp_account", Tenant: 17}), hosting.MoveToBin{Ref: ftp},
	)
	if err == nil || domain.CodeOf(err) != "" {
		t.Error(err)
	}
}

func TestEveryKindHasANameAtTheEngine(t *testing.T) {
	zone, mail := values(`{"origin":"example.com."}`), values(`{"domain":"example.com"}`)
	for _, c := range []struct {
		kind, spec string
		want       string
	}{
		{kind: "tenant", spec: `{"username":"ana"}`, want: "ana"},
		{kind: "tenant", spec: `{"username":""}`, want: "t9"},
		{kind: "site", spec: `{"domain":"example.com"}`, want: "example.com"},
		{kind: "database", spec: `{"name":"shop","engine_name":"c17_shop"}`, want: "c17_shop"},
		{kind: "dns_zone", spec: `{"origin":"example.com."}`, want: "example.com."},
		{kind: "mail_domain", spec: `{"domain":"example.com"}`, want: "example.com"},
		{kind: "mailbox", spec: `{"email":"ana@example.com"}`, want: "ana@example.com"},
		{kind: "mail_alias", spec: `{"email":"@example.com"}`, want: "@example.com"},
		{kind: "ftp_account", spec: `{"username":"ana"}`, want: "ana"},
		{kind: "shell_user", spec: `{"username":"ana"}`, want: "ana"},
	} {
		kind, _ := hosting.KindNamed(c.kind)
		if o := kind.Object(9, values(c.spec), nil); o.Name != c.want || o.Kind != c.kind {
			t.Errorf("%s: %q", c.kind, o.Name)
		}
	}
	record, _ := hosting.KindNamed("dns_record")
	exchange := values(`{"record_type":"MX","name":"@","data":"mail.example.org","priority":10}`)
	if o := record.Object(9, exchange, zone); o.Name != "example.com. example.com. MX 10 mail.example.org." {
		t.Error(o.Name)
	}
	certificate, _ := hosting.KindNamed("ssl_certificate")
	if o := certificate.Object(9, values(`{"domain":"www.example.com"}`), mail); o.Name != "example.com" {
		t.Error(o.Name)
	}
}

func TestAnObjectHasNoSecretsAmongItsValues(t *testing.T) {
	kind, _ := hosting.KindNamed("mailbox")
	o := kind.Object(9, values(`{"email":"ana@example.com","password":"0a7a0d6e-0000-4000-8000-00000000000a","quota_mb":5}`), nil)
	if _, there := o.Values["password"]; there || string(o.Values["quota_mb"]) != "5" {
		t.Error(o.Values)
	}
	alias, _ := hosting.KindNamed("mail_alias")
	if o := alias.Object(9, values(`{"email":"a@b.es","destination":["c@d.es"]}`), nil); string(o.Values["destinations"]) != `["c@d.es"]` {
		t.Error(o.Values)
	}
}
