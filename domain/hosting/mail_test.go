package hosting_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/field"
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

// Mail that is forwarded ends somewhere: at a mailbox, at another server, or at an address
// that nothing takes.
func TestForwardsThatLeadBackAreRefused(t *testing.T) {
	const again, only = `{"destination":["Mail to \"%s\" comes back to this alias."]}`,
		`{"destination":["Only this catch-all takes \"%s\": there is no mailbox or alias of that name."]}`
	others := []field.Values{
		values(`{"email":"box@example.com","local_part":"box"}`),
		values(`{"email":"home@example.com","source":"home","destination":["box@example.com","a@elsewhere.org"],"is_active":true}`),
		values(`{"email":"b@other.org","source":"b","destination":["c@other.org"],"is_active":true}`),
		values(`{"email":"c@other.org","source":"c","destination":["D@third.org","x@elsewhere.org"],"is_active":true}`),
		values(`{"email":"d@third.org","source":"d","destination":["A@example.com"],"is_active":true}`),
		values(`{"email":"off@other.org","source":"off","destination":["a@example.com"],"is_active":false}`),
		values(`{"email":"@all.org","source":"*","destination":["a@example.com"],"is_active":true}`),
		values(`{"email":"@round.org","source":"*","destination":["who@example.com"],"is_active":true}`),
		values(`{"email":"e@other.org","source":"e","destination":["f@other.org"],"is_active":true}`),
		values(`{"email":"f@other.org","source":"f","destination":["e@other.org"],"is_active":true}`),
	}
	for _, c := range []struct{ source, destination, want string }{
		{"a", "box@example.com", ""},
		{"a", "home@example.com", ""},
		{"a", "nobody@example.com, z@elsewhere.org", ""},
		{"a", "d@third.org", fmt.Sprintf(again, "d@third.org")},
		{"a", "box@example.com, C@other.org", fmt.Sprintf(again, "c@other.org")},
		{"a", "b@other.org", fmt.Sprintf(again, "b@other.org")},
		{"a", "off@other.org", ""},
		{"a", "anything@all.org", fmt.Sprintf(again, "anything@all.org")},
		{"a", "e@other.org", ""}, // a ring of others, which this alias is no part of
		{"*", "box@example.com", ""},
		{"*", "home@example.com", ""},
		{"*", "nobody@example.com", fmt.Sprintf(only, "nobody@example.com")},
		{"*", "d@third.org", fmt.Sprintf(again, "d@third.org")},
		{"*", "you@round.org", fmt.Sprintf(again, "you@round.org")},
	} {
		p := placeOf("mail_alias")
		p.Beside = others
		body := fmt.Sprintf(`{"mail_domain":3,"source":%q,"destination":%q}`, c.source, c.destination)
		spec, got := create("mail_alias", body, p)
		if got != c.want {
			t.Errorf("%s to %s: %s, not %s", c.source, c.destination, got, c.want)
		}
		if _, got := create("mail_alias", body[:len(body)-1]+`,"is_active":false}`, p); got != "" {
			t.Errorf("%s to %s, switched off: %s", c.source, c.destination, got)
		}
		for _, step := range [][2]string{
			{`{"is_active":true}`, ""},
			{`{"is_active":false}`, ""},
			{`{"is_active":true}`, c.want},
			{`{"destination":"z@elsewhere.org"}`, ""},
		} {
			if got := change(spec, step[0], p); got != step[1] {
				t.Errorf("%s to %s, changed by %s: %s", c.source, c.destination, step[0], got)
			}
		}
	}
}

// What the check compares an alias with is asked for forward by forward, and not without end.
func TestForwardsAreFollowedAFewSteps(t *testing.T) {
	p := placeOf("mail_alias")
	spec, _ := create("mail_alias", `{"mail_domain":3,"source":"n0","destination":"n1@example.com"}`, p)
	chain := func(steps int) (queries [][]hosting.Query, known []field.Values) {
		for step := range steps {
			queries = append(queries, hosting.NearTo(spec, 17, step, known))
			known = append(known, values(fmt.Sprintf(
				`{"email":"n%d@example.com","source":"n%d","destination":["n%d@example.com"],"is_active":true}`, step+1, step+1, step+2)))
		}
		return queries, known
	}
	queries, known := chain(30)
	if got := fmt.Sprint(queries[2]); !strings.Contains(got, "n3@example.com") || strings.Contains(got, "n2@") {
		t.Error("asked for after two forwards:", got)
	}
	if len(queries[9]) == 0 || len(queries[10]) != 0 {
		t.Errorf("asked after nine forwards: %v, after ten: %v", queries[9], queries[10])
	}
	ring := func(length int) string {
		p.Beside = append(slices.Clone(known[:length-2]), values(fmt.Sprintf(
			`{"email":"n%d@example.com","source":"n%d","destination":["n0@example.com"],"is_active":true}`, length-1, length-1)))
		_, wrong := create("mail_alias", `{"mail_domain":3,"source":"n0","destination":"n1@example.com"}`, p)
		return wrong
	}
	for length := 2; length <= 10; length++ {
		if got := ring(length); !strings.Contains(got, `Mail to \"n1@example.com\" comes back`) {
			t.Errorf("a ring of %d: %s", length, got)
		}
	}
}

// Mail to the server itself goes to those who run it, or is lost.
func TestForwardsLeaveTheServer(t *testing.T) {
	p := placeOf("mail_alias")
	p.Engines = []string{"Server1.host.example"}
	for destination, want := range map[string]string{
		"root@localhost":             `{"destination":["Enter a valid email address."]}`,
		"root@localhost.localdomain": `{"destination":["Enter a valid email address."]}`,
		"root@host.localhost":        `{"destination":["Enter a valid email address."]}`,
		"root@server1.host.example":  `{"destination":["Mail cannot be forwarded to the server itself."]}`,
		"info@host.example":          "",
		"a@b.server1.host.example":   "",
	} {
		_, got := create("mail_alias", fmt.Sprintf(`{"mail_domain":3,"source":"info","destination":%q}`, destination), p)
		if got != want {
			t.Errorf("%s: %s, not %s", destination, got, want)
		}
	}
}
