package hosting_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/hosting"
)

func TestMailDomains(t *testing.T) {
	answers(t, "mail_domain", placeOf("mail_domain"), []asked{
		{
			`{"domain":"Example.com"}`,
			`{"domain":"example.com","dkim_enabled":false,"dkim_selector":"default","dkim_public":"","is_active":true}`,
		},
		{`{"domain":"example.com","dkim_enabled":true,"dkim_selector":"s1"}`, `{"dkim_enabled":true,"dkim_selector":"s1"}`},
		{`{"domain":"example.com","dkim_selector":"S-1"}`, `{"dkim_selector":["This value does not match the required pattern."]}`},
		{`{"domain":"com"}`, `{"domain":["Enter a valid domain name."]}`},
		{`{}`, `{"domain":["This field is required."]}`},
	})
}

func TestMailboxes(t *testing.T) {
	const pattern = "This value does not match the required pattern."
	box := func(more string) string {
		return `{"mail_domain":3,"local_part":"ana","password":"correct horse"` + more + `}`
	}
	answers(t, "mailbox", placeOf("mailbox"), []asked{
		{box(""), `{"mail_domain":3,"mail_domain_name":"example.com","email":"ana@example.com","local_part":"ana",` +
			`"name":"","quota_mb":1024,"imap_enabled":true,"pop3_enabled":true,"smtp_enabled":true,"is_active":true}`},
		{
			`{"mail_domain":"3","local_part":"Ana.Ruiz","password":"  leading blanks count ","name":"Ana Ruiz","quota_mb":-1}`,
			`{"email":"ana.ruiz@example.com","local_part":"ana.ruiz","name":"Ana Ruiz","quota_mb":-1}`,
		},
		{box(`,"quota_mb":0`), `{"quota_mb":["Ensure this value is greater than or equal to 1."]}`},
		{box(`,"quota_mb":10485761`), `{"quota_mb":["Ensure this value is less than or equal to 10485760."]}`},
		{box(`,"name":"<b>"`), `{"name":["Enter a valid text."]}`},
		{box(`,"name":"a\nb"`), `{"name":["Line breaks are not allowed."]}`},
		{
			`{}`,
			`{"mail_domain":["This field is required."],"local_part":["This field is required."],"password":["This field is required."]}`,
		},
		{
			`{"mail_domain":null,"local_part":"","password":null}`,
			`{"mail_domain":["This field may not be null."],"local_part":["This field may not be blank."],` +
				`"password":["This field may not be null."]}`,
		},
		{
			`{"mail_domain":"x","local_part":"a","password":"a\u0007bcdefghi"}`,
			`{"mail_domain":["Incorrect type. Expected pk value, received str."],"password":["` + pattern + `"]}`,
		},
	})
	for _, bad := range []string{"a..b", "a.", ".a", "-a", "a+b", "a b", "ñ", long(65)} {
		_, got := create("mailbox", fmt.Sprintf(`{"mail_domain":3,"local_part":%q,"password":"correct horse"}`, bad), placeOf("mailbox"))
		if got != `{"local_part":["`+pattern+`"]}` {
			t.Errorf("%s: %s", bad, got)
		}
	}
}

func TestStorageWithoutBoundsIsForTenantsWithoutThem(t *testing.T) {
	const refused = `{"quota_mb":["Ensure this value is greater than or equal to 1."]}`
	account := `{"site":3,"username":"ana","password":"correct horse"`
	for _, c := range []struct {
		storage    int64
		body, want string
	}{
		{-1, `}`, `{"quota_mb":-1}`},
		{-1, `,"quota_mb":-1}`, `{"quota_mb":-1}`},
		{500, `}`, `{"quota_mb":500}`},
		{500, `,"quota_mb":-1}`, refused},
		{500, `,"quota_mb":900}`, `{"quota_mb":900}`},
		{0, `}`, `{"quota_mb":1}`},
		{1 << 30, `}`, `{"quota_mb":10485760}`},
	} {
		answers(t, "ftp_account", limitedTo(c.storage, placeOf("ftp_account")), []asked{{account + c.body, c.want}})
		answers(t, "shell_user", limitedTo(c.storage, placeOf("shell_user")), []asked{{account + c.body, c.want}})
	}
	answers(
		t, "mailbox", limitedTo(500, placeOf("mailbox")),
		[]asked{{`{"mail_domain":3,"local_part":"a","password":"correct horse","quota_mb":-1}`, refused}},
	)
}

func TestAPasswordIsNeverShownAndMayStay(t *testing.T) {
	spec, _ := create("mailbox", `{"mail_domain":3,"local_part":"ana","password":"correct horse"}`, placeOf("mailbox"))
	spec.Fields().Seal(func(string) string { return "0a7a0d6e-0000-4000-8000-00000000000b" })
	if shown := string(spec.Fields().AppendJSON(nil)); strings.Contains(shown, "password") {
		t.Error(shown)
	}
	for _, c := range []asked{
		{`{"name":"Eva"}`, ""},
		{`{"password":""}`, `{"password":["This field may not be blank."]}`},
		{`{"local_part":"eva"}`, `{"local_part":["This field cannot be changed."]}`},
		{`{"local_part":"ANA","mail_domain":3}`, ""},
	} {
		if got := change(spec, c.body, placeOf("mailbox")); got != c.want {
			t.Errorf("%s: %s", c.body, got)
		}
	}
	k, _ := hosting.KindNamed("mailbox")
	if secrets := k.Secrets(); len(secrets) != 1 || secrets[0] != "password" {
		t.Error(secrets)
	}
}

func TestMailAliases(t *testing.T) {
	alias := func(source, destination string) string {
		return fmt.Sprintf(`{"mail_domain":3,"source":%q,"destination":%s}`, source, destination)
	}
	answers(t, "mail_alias", placeOf("mail_alias"), []asked{
		{
			alias("Info", `"ana@example.com"`),
			`{"mail_domain":3,"mail_domain_name":"example.com","source":"info","email":"info@example.com",` +
				`"destination":"ana@example.com","is_active":true}`,
		},
		{
			alias("info@EXAMPLE.com", `["ana@example.com","Eva@Other.org"]`),
			`{"source":"info","email":"info@example.com","destination":"ana@example.com, Eva@other.org"}`,
		},
		{alias("info", `" a@b.es , c@d.es,a@B.es"`), `{"destination":"a@b.es, c@d.es"}`},
		{alias("*", `"a@b.es"`), `{"source":"*","email":"@example.com"}`},
		{alias("", `"a@b.es"`), `{"source":"*","email":"@example.com"}`},
		{alias("@example.com", `"a@b.es"`), `{"source":"*","email":"@example.com"}`},
		{alias("*", `"a@b.es,c@d.es"`), `{"destination":["Ensure this field has no more than 1 elements."]}`},
		{alias("info@other.org", `"a@b.es"`), `{"source":["Enter a valid email address."]}`},
		{alias("a..b", `"a@b.es"`), `{"source":["This value does not match the required pattern."]}`},
		{alias("info", `"INFO@example.com"`), `{"destination":["The destination contains the alias itself."]}`},
		{alias("info", `"a@b.es,x"`), `{"destination":["Enter a valid email address."]}`},
		{alias("info", `["a@b.es","x"]`), `{"destination":{"1":["Enter a valid email address."]}}`},
		{alias("info", `[]`), `{"destination":["This list may not be empty."]}`},
		{alias("info", `" , "`), `{"destination":["This field may not be blank."]}`},
		{alias("info", `7`), `{"destination":["Expected a list of items but got type \"int\"."]}`},
		{alias("info", `"`+strings.Repeat("a@b.es,", 51)+`"`), `{"destination":["Ensure this field has no more than 50 elements."]}`},
		{
			`{}`,
			`{"mail_domain":["This field is required."],"source":["This field is required."],"destination":["This field is required."]}`,
		},
	})
}

func TestAnAliasTellsWhatItIs(t *testing.T) {
	for _, c := range []struct {
		source, destination string
		mailbox             bool
		want                string
	}{
		{"*", "a@b.es", true, `{"destinations":["a@b.es"],"alias_type":"catchall"}`},
		{"info", "a@b.es", true, `{"destinations":["a@b.es"],"alias_type":"alias"}`},
		{"info", "a@b.es", false, `{"destinations":["a@b.es"],"alias_type":"forward"}`},
		{"info", "a@b.es,c@d.es", true, `{"destinations":["a@b.es","c@d.es"],"alias_type":"forward"}`},
	} {
		spec, wrong := create(
			"mail_alias", fmt.Sprintf(`{"mail_domain":3,"source":%q,"destination":%q}`, c.source, c.destination),
			placeOf("mail_alias"),
		)
		if got := string(hosting.Derived(spec, time.Time{}, c.mailbox).AppendJSON(nil)); got != c.want || wrong != "" {
			t.Errorf("%s %s", got, wrong)
		}
	}
}

// The source of an alias may be repeated, with its domain or without.
func TestAnAliasKeepsItsSource(t *testing.T) {
	spec, _ := create("mail_alias", `{"mail_domain":3,"source":"info","destination":"a@b.es"}`, placeOf("mail_alias"))
	all, _ := create("mail_alias", `{"mail_domain":3,"source":"@example.com","destination":"a@b.es"}`, placeOf("mail_alias"))
	for _, c := range []struct {
		spec       hosting.Spec
		body, want string
	}{
		{spec, `{"source":"Info@example.com"}`, ""},
		{spec, `{"source":"eva"}`, `{"source":["This field cannot be changed."]}`},
		{all, `{"source":"@example.com"}`, ""},
		{all, `{"source":"*"}`, ""},
		{spec, `{"destination":["b@c.es"]}`, ""},
	} {
		if got := change(c.spec, c.body, placeOf("mail_alias")); got != c.want {
			t.Errorf("%s: %s", c.body, got)
		}
	}
	if got := spec.(*hosting.MailAlias).Destinations; len(got) != 1 || got[0] != "b@c.es" {
		t.Error(got)
	}
}
