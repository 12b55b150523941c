package projections

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// asked is a resource of tenant 5.
func asked(kind string, id int64, spec hosting.Spec) hosting.Request {
	return hosting.Request{Ref: hosting.Ref{Kind: kind, ID: id}, Tenant: 5, Spec: spec.Fields().Values()}
}

// tenantWith is tenant 5 with a package.
func tenantWith(pack int64) hosting.Request {
	request := tenant(5, "Ana", "ana")
	request.Spec["package"] = fmt.Append(nil, pack)
	return request
}

func packed(id int64, limits func(*hosting.Package)) hosting.Request {
	pack := &hosting.Package{Name: fmt.Sprint("Package ", id), Slug: fmt.Sprint("p", id), Limits: hosting.NoLimits(), Shell: true}
	limits(pack)
	request := asked("package", id, pack)
	request.Tenant = 0
	return request
}

func TestNoTwoResourcesHaveASetOfFieldsInCommon(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	record := &hosting.DNSRecord{Zone: 3, Type: "TXT", Name: "@", Data: strings.Repeat("long ", 800)}
	other := *record
	other.Data += "er"
	p.do(t, tenant(5, "Ana", "ana"), asked("dns_record", 1, record), asked("dns_record", 2, &other))
	const refusal = "non_field_errors: The fields zone, record_type, name, data must make a unique set."
	if err := p.try(t, asked("dns_record", 3, record)); err == nil || err.Error() != refusal {
		t.Error(err)
	}
	same := hosting.Change{Ref: hosting.Ref{Kind: "dns_record", ID: 2}, Spec: field.Values{"data": record.Fields().Values()["data"]}}
	if err := p.try(t, same); err == nil || err.Error() != refusal {
		t.Error(err)
	}
	p.do(t, hosting.Remove{Ref: hosting.Ref{Kind: "dns_record", ID: 1}}, same) // it is free by now
}

func TestATenantHasOneConfiguration(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	look := &hosting.WhiteLabel{BrandName: "Ana"}
	p.do(t, tenant(5, "Ana", "ana"), asked("whitelabel", 1, look))
	if err := p.try(t, asked("whitelabel", 2, look)); err == nil ||
		err.Error() != "tenant: white label config with this tenant already exists." {
		t.Error(err)
	}
}

// An address is one mailbox or one alias.
func TestAnAddressIsHadOnce(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	box := asked("mailbox", 1, &hosting.Mailbox{MailDomain: 3, LocalPart: "ana", Email: "ana@example.com"})
	alias := asked("mail_alias", 1, &hosting.MailAlias{MailDomain: 3, Source: "ana", Email: "ana@example.com"})
	again := box
	again.ID = 2
	p.do(t, tenant(5, "Ana", "ana"), box)
	for _, c := range []struct {
		asked hosting.Request
		want  string
	}{
		{alias, "source: A mailbox with this address already exists."},
		{again, "non_field_errors: The fields mail_domain, local_part must make a unique set."},
	} {
		if err := p.try(t, c.asked); err == nil || err.Error() != c.want {
			t.Error(err)
		}
	}
	p.do(t, hosting.Remove{Ref: box.Ref}, alias)
	if err := p.try(t, again); err == nil || err.Error() != "local_part: An alias with this address already exists." {
		t.Error(err)
	}
}

func TestOnePackageIsTheDefaultOne(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	standard := func(k *hosting.Package) { k.IsDefault = true }
	p.do(t, packed(1, standard))
	if err := p.try(t, packed(2, standard)); domain.CodeOf(err) != domain.Conflict {
		t.Error(err)
	}
	resign := hosting.Change{Ref: hosting.Ref{Kind: "package", ID: 1}, Spec: field.Values{"is_default": []byte("false")}}
	p.do(t, resign, packed(2, standard))
}

// Requests at the same time do not pass the limit together.
func TestATenantNeverHasMoreThanItsPackageAllows(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, packed(3, func(k *hosting.Package) { k.Limits = k.Limits.With("sites", 5) }), tenantWith(3))
	var all sync.WaitGroup
	refused := make(chan error, 20)
	for n := range int64(20) {
		all.Go(func() {
			if err := p.try(t, site(n+1, 5, fmt.Sprintf("s%d.example", n), "")); err != nil {
				refused <- err
			}
		})
	}
	all.Wait()
	close(refused)
	count := 0
	for err := range refused {
		count++
		if err.Error() != "non_field_errors: Limit reached: sites." {
			t.Error(err)
		}
	}
	kind, _ := hosting.KindNamed("site")
	used, most, err := p.For(System).Hosting().Limit(t.Context(), kind, 5)
	if count != 15 || used != 5 || most != 5 || err != nil {
		t.Error(count, used, most, err)
	}
}

// What was removed does not count; what was bought is there to be had; a limit
// that is lowered only stops new ones.
func TestWhatCountsAgainstALimit(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(
		t, packed(3, func(k *hosting.Package) { k.Limits, k.Shell = k.Limits.With("sites", 1), false }), tenantWith(3),
		site(1, 5, "a.example", ""),
	)
	if err := p.try(t, site(2, 5, "b.example", "")); err == nil {
		t.Error("a second site")
	}
	p.do(t, hosting.Remove{Ref: hosting.Ref{Kind: "site", ID: 1}}, site(2, 5, "b.example", ""))
	p.do(t, site(3, 5, "c.example", "order:6f1c"))
	p.do(t, hosting.Change{Ref: hosting.Ref{Kind: "package", ID: 3}, Spec: field.Values{"max_sites": []byte("0")}})
	p.do(t, hosting.Change{Ref: hosting.Ref{Kind: "site", ID: 2}, Spec: field.Values{"is_active": []byte("false")}})
	if err := p.try(t, asked("shell_user", 1, &hosting.ShellUser{Site: 2, Username: "ana"})); err == nil ||
		err.Error() != "non_field_errors: Limit reached: shell_users." {
		t.Error(err)
	}
	kind, _ := hosting.KindNamed("shell_user")
	if used, most, err := p.For(System).Hosting().Limit(t.Context(), kind, 5); used != 0 || most != 0 || err != nil {
		t.Error(used, most, err)
	}
}

// Without a package, a tenant has the limits that it came with.
func TestATenantWithoutPackageHasItsOwnLimits(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	request := tenant(5, "Ana", "ana")
	request.Spec["max_sites"] = []byte("1")
	p.do(t, request, site(1, 5, "a.example", ""))
	if err := p.try(t, site(2, 5, "b.example", "")); err == nil {
		t.Error("a second site")
	}
	p.do(t, asked("database", 1, &hosting.Database{Name: "shop"}))
}
