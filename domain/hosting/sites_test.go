package hosting_test

import (
	"strings"
	"testing"

	"hostpanel/domain/hosting"
)

func TestSites(t *testing.T) {
	answers(t, "site", placeOf("site"), []asked{
		{`{"domain":"Example.COM."}`, `{"domain":"example.com","ip_address":"*","is_active":true,"ssl_enabled":false,"document_root":""}`},
		{`{"domain":"example.com","ip_address":null}`, `{"domain":"example.com","ip_address":"*"}`},
		{`{"domain":"example.com","ip_address":" "}`, `{"domain":"example.com","ip_address":"*"}`},
		{`{"domain":"müller.de","ip_address":"2001:DB8::1"}`, `{"domain":"xn--mller-kva.de","ip_address":"2001:db8::1"}`},
		{`{"domain":"example.com","document_root":"/etc","hosting_site_id":3}`, `{"document_root":""}`},
		{`{}`, `{"domain":["This field is required."]}`},
		{`{"domain":"a..b"}`, `{"domain":["Enter a valid domain name."]}`},
		{`{"domain":"example.com","ip_address":"1.2.3"}`, `{"ip_address":["Enter a valid IPv4 or IPv6 address, or \"*\"."]}`},
		{`{"domain":"shop.local"}`, `{"domain":["Names that end in .local or .onion are not in DNS."]}`},
		{
			`{"domain":"example.com","ip_address":"169.254.0.1"}`,
			`{"ip_address":["A site cannot have an unspecified, broadcast, multicast or link-local address."]}`,
		},
		{`{"domain":"192.0.2.7"}`, `{"domain":["Enter a valid domain name."]}`},
	})
}

func TestDatabases(t *testing.T) {
	answers(t, "database", placeOf("database"), []asked{
		{
			`{"name":"shop"}`,
			`{"name":"shop","db_user":"shop","site":null,"is_active":true,"engine_name":"c17_shop","engine_user":"c17_shop"}`,
		},
		{
			`{"name":"shop","db_user":"reader","site":4}`,
			`{"db_user":"reader","site":4,"engine_name":"c17_shop","engine_user":"c17_reader"}`,
		},
		{
			`{"name":"` + long(40) + `"}`,
			`{"db_user":"` + long(32) + `","engine_name":"c17_` + long(40) + `","engine_user":"c17_` + long(21) + `_3c09fd"}`,
		},
		{`{"name":"` + long(64) + `","db_user":"x_"}`, `{"engine_name":"c17_` + long(53) + `_b3803f","engine_user":"c17_x_"}`},
		{`{"name":"a"}`, `{"name":["This value does not match the required pattern."]}`},
		{`{"name":"my-shop"}`, `{"name":["This value does not match the required pattern."]}`},
		{`{"name":"shop","db_user":"` + long(33) + `"}`, `{"db_user":["This value does not match the required pattern."]}`},
		{`{"name":"shop","db_user":""}`, `{"db_user":["This field may not be blank."]}`},
		{`{"name":"shop","db_password":"short"}`, `{"db_password":["Ensure this field has at least 8 characters."]}`},
		{`{"name":"shop","db_password":"password"}`, `{"db_password":["This password is too common."]}`},
		{`{"name":"shop","db_password":""}`, `{"db_password":["This field may not be blank."]}`},
		{`{"name":"shop","db_password":12345678}`, `{"db_password":["Not a valid string."]}`},
		{`{"name":"shop","db_password":"` + long(129) + `"}`, `{"db_password":["Ensure this field has no more than 128 characters."]}`},
	})
}

func TestPackages(t *testing.T) {
	answers(t, "package", placeOf("package"), []asked{
		{`{"name":"Básico"}`, `{"name":"Básico","slug":"basico","description":"","max_sites":-1,"max_databases":-1,` +
			`"max_storage_mb":-1,"max_traffic_mb":-1,"max_mail_domains":-1,"max_mailboxes":-1,"max_mail_aliases":-1,` +
			`"max_ftp_accounts":-1,"max_shell_users":-1,"max_dns_zones":-1,"ssl_enabled":true,"shell_enabled":true,` +
			`"backup_enabled":false,"is_default":false,"is_active":true}`},
		{`{"name":"日本"}`, `{"slug":"package-9"}`},
		{
			`{"name":"A","slug":"own","max_sites":1000000,"max_storage_mb":1073741824,"description":"one\ntwo"}`,
			`{"slug":"own","description":"one\ntwo","max_sites":1000000,"max_storage_mb":1073741824}`,
		},
		{
			`{"name":"A","max_sites":1000001,"max_traffic_mb":1073741825,"max_dns_zones":-2}`,
			`{"max_sites":["Ensure this value is less than or equal to 1000000."],` +
				`"max_traffic_mb":["Ensure this value is less than or equal to 1073741824."],` +
				`"max_dns_zones":["Ensure this value is greater than or equal to -1."]}`,
		},
		{`{"name":""}`, `{"name":["This field may not be blank."]}`},
		{`{"name":"` + long(101) + `","slug":"a b","description":"` + long(2001) +
			`"}`, `{"name":["Ensure this field has no more than 100 characters."],` +
			`"slug":["Enter a valid \"slug\" consisting of letters, numbers, underscores or hyphens."],` +
			`"description":["Ensure this field has no more than 2000 characters."]}`},
	})
}

func TestAPackageWithoutShellsAllowsNone(t *testing.T) {
	spec, _ := create("package", `{"name":"A","max_shell_users":5,"max_sites":3}`, placeOf("package"))
	p := spec.(*hosting.Package)
	with := p.Allows()
	p.Shell = false
	without := p.Allows()
	if with.Of("shell_users") != 5 || without.Of("shell_users") != 0 || without.Of("sites") != 3 ||
		without.Of("castles") != hosting.Unlimited {
		t.Error(with, without)
	}
}

func TestTenants(t *testing.T) {
	answers(t, "tenant", placeOf("tenant"), []asked{
		{`{"name":"Ana Ruiz","email":"Ana@Example.com"}`, `{"name":"Ana Ruiz","email":"Ana@example.com",` +
			`"slug":"ana-ruiz","contact_name":"","company_name":"","phone":"","tax_id":"","address":"","city":"",` +
			`"postal_code":"","country":"","language":"es","package":5,"parent":null,"username":"t9","customer_number":"t9",` +
			`"status":"active","suspended_reason":"","suspended_at":null,"is_active":true}`},
		{
			`{"name":"A","email":"a@b.es","package":null,"username":"ana","slug":"x"}`,
			`{"slug":"x","package":null,"username":"ana","customer_number":"t9"}`,
		},
		{`{"name":"A","email":"a@b.es","status":"suspended"}`, `{"status":"suspended","suspended_at":"2026-03-01T12:00:00Z"}`},
		{`{"name":"日本","email":"a@b.es"}`, `{"slug":"tenant-9"}`},
		{`{}`, `{"name":["This field is required."],"email":["This field is required."]}`},
		{
			`{"name":"<b>","email":"a","country":"es","language":"Spanish","status":"gone","username":"-"}`,
			`{"name":["Enter a valid text."],"email":["Enter a valid email address."],` +
				`"country":["This value does not match the required pattern."],` +
				`"language":["Ensure this field has no more than 5 characters.",` +
				`"This value does not match the required pattern."],` +
				`"username":["This value does not match the required pattern."],"status":["\"gone\" is not a valid choice."]}`,
		},
		{`{"name":"` + long(201) + `","email":"a@b.es"}`, `{"name":["Ensure this field has no more than 200 characters."]}`},
	})
	spec, _ := create("tenant", `{"name":"A","email":"a@b.es","status":"suspended"}`, placeOf("tenant"))
	if wrong := change(spec, `{"status":"active"}`, placeOf("tenant")); wrong != "" || spec.(*hosting.Tenant).SuspendedAt != nil {
		t.Error(wrong, spec)
	}
	const fixed = `{"parent":["This field cannot be changed."],"username":["This field cannot be changed."]}`
	if wrong := change(spec, `{"username":"other","parent":3}`, placeOf("tenant")); wrong != fixed {
		t.Error(wrong)
	}
}

func TestWhiteLabelConfigurations(t *testing.T) {
	url := "https://example.com/"
	answers(t, "whitelabel", placeOf("whitelabel"), []asked{
		{`{"brand_name":"Acme"}`, `{"brand_name":"Acme","logo_url":"","favicon_url":"","primary_color":"#4F46E5",` +
			`"secondary_color":"#10B981","sidebar_bg_color":"#1F2937","sidebar_text_color":"#F9FAFB","custom_css":"",` +
			`"footer_text":"","footer_url":"","email_from_name":"","email_from_address":"","custom_panel_domain":"","is_active":true}`},
		{
			`{"brand_name":"Acme","custom_css":" a{color:red}\n","footer_text":"one\ntwo"}`,
			`{"custom_css":" a{color:red}\n","footer_text":"one\ntwo"}`,
		},
		{
			`{"brand_name":"A","logo_url":"` + url + long(481) + `","footer_url":"` + url + long(1000) + `"}`,
			`{"logo_url":["Ensure this field has no more than 500 characters."]}`,
		},
		{
			`{"brand_name":"A","logo_url":"http://example.com/","favicon_url":"https://10.0.0.1/","footer_url":"https://u:p@example.com/"}`,
			`{"logo_url":["Enter a valid URL."],"favicon_url":["Enter a valid URL."],"footer_url":["Enter a valid URL."]}`,
		},
		{`{"brand_name":"` + long(101) + `","footer_text":"` + long(501) + `","email_from_name":"` + long(101) +
			`"}`, `{"brand_name":["Ensure this field has no more than 100 characters."],` +
			`"footer_text":["Ensure this field has no more than 500 characters."],` +
			`"email_from_name":["Ensure this field has no more than 100 characters."]}`},
		{
			`{"brand_name":"A","primary_color":"red","secondary_color":"#12345"}`,
			`{"primary_color":["Enter a valid color in the form #RRGGBB."],"secondary_color":["Enter a valid color in the form #RRGGBB."]}`,
		},
		{
			`{"brand_name":"A","email_from_address":"x","custom_panel_domain":"localhost"}`,
			`{"email_from_address":["Enter a valid email address."],"custom_panel_domain":["Enter a valid domain name."]}`,
		},
		{`{"brand_name":"A","custom_panel_domain":"panel.example"}`, `{"custom_panel_domain":["This domain cannot be used."]}`},
		{`{"brand_name":"A","custom_panel_domain":"x.ns1.panel.example"}`, `{"custom_panel_domain":["This domain cannot be used."]}`},
		{`{"brand_name":"A","custom_panel_domain":"otherpanel.example"}`, `{"custom_panel_domain":"otherpanel.example"}`},
		{`{}`, `{"brand_name":["This field is required."]}`},
	})
}

func TestTheFieldsOfATenantsOwn(t *testing.T) {
	all := (&hosting.Tenant{}).Fields()
	if own := all.Only(hosting.OwnOfTenant...); len(own) != 10 || len(own) != len(hosting.OwnOfTenant) {
		t.Error(len(own))
	}
}

func TestARecordTooManyIsToldInNumbers(t *testing.T) {
	if got := hosting.LimitReached("sites", 5, 5).Error(); got != "non_field_errors: Limit reached: sites (5 of 5)." {
		t.Error(got)
	}
}

func TestWhatMustBeUniqueIsToldInWords(t *testing.T) {
	for kind, want := range map[string]string{
		"mailbox":    "non_field_errors: The fields mail_domain, local_part must make a unique set.",
		"whitelabel": "tenant: white label config with this tenant already exists.",
		"dns_record": "non_field_errors: The fields zone, record_type, name, data must make a unique set.",
	} {
		k, _ := hosting.KindNamed(kind)
		if got := k.NotUnique(k.Sets[0]).Error(); got != want {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

// A package has no backend: it runs at once, and is removed at once.
func TestWhatNoEngineMakesRunsAtOnce(t *testing.T) {
	ref := hosting.Ref{Kind: "package", ID: 3}
	asked := hosting.Requested{Kind: "package", Spec: values(`{"name":"A"}`)}
	changed := hosting.Changed{Spec: values(`{"name":"B"}`)}
	given(t).When(hosting.Request{Ref: ref, Spec: asked.Spec}).Then(asked, hosting.EngineConfirmed{})
	given(t, asked, hosting.EngineConfirmed{}).When(hosting.Change{Ref: ref, Spec: changed.Spec}).Then(changed, hosting.EngineConfirmed{})
	given(t, asked, hosting.EngineConfirmed{}).When(hosting.Remove{Ref: ref}).Then(hosting.RemovalRequested{}, hosting.Removed{})
	r := hosting.Decider.Replay(asked, hosting.EngineConfirmed{}, changed, hosting.EngineConfirmed{})
	if r.Status != hosting.Running {
		t.Error(r.Status)
	}
}

// The log refuses a plaintext secret.
func TestASecretNeverReachesTheLog(t *testing.T) {
	box := hosting.Ref{Kind: "mailbox", ID: 3}
	clear, sealed := values(`{"password":"correct horse"}`), values(`{"password":"0a7a0d6e-0000-4000-8000-00000000000b"}`)
	_, err := hosting.Decider.Decide(hosting.Resource{}, hosting.Request{Ref: box, Tenant: 17, Spec: clear})
	_, err2 := hosting.Decider.Decide(hosting.Resource{Status: hosting.Running, Kind: "mailbox"}, hosting.Change{Ref: box, Spec: clear})
	if err == nil || err2 == nil || strings.Contains(err.Error()+err2.Error(), "horse") {
		t.Error(err, err2)
	}
	given(t).When(hosting.Request{Ref: box, Tenant: 17, Spec: sealed}).Then(hosting.Requested{Kind: "mailbox", Tenant: 17, Spec: sealed})
}
