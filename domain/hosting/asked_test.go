package hosting_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A case asks for a record of a kind. The answer is what is wrong with it, or
// some fields of the record that it makes.
type asked struct{ body, want string }

// places are where the records of the tests stand: in tenant 17, at noon.
func placeOf(kind string) hosting.Place {
	standard := int64(5)
	p := hosting.Place{
		ID: 9, Tenant: 17, At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), Limits: hosting.NoLimits(), Package: &standard,
		NameServers: []string{"ns1.panel.example.", "ns2.panel.example."}, Hosts: []string{"panel.example", "ns1.panel.example."},
	}
	switch kind {
	case "dns_record":
		p.Parent = values(`{"origin":"example.com.","ttl":7200}`)
	case "mailbox", "mail_alias", "ftp_account", "shell_user", "ssl_certificate":
		p.Parent = values(`{"domain":"example.com"}`)
	}
	return p
}

// create makes a record of the body; the answer is what is wrong with it.
func create(kind, body string, p hosting.Place) (hosting.Spec, string) {
	k, _ := hosting.KindNamed(kind)
	spec := k.New()
	return spec, decode(spec, body, field.Create, p)
}

// change changes a record.
func change(spec hosting.Spec, body string, p hosting.Place) string {
	p.Before = spec.Fields().Values()
	return decode(spec, body, field.Patch, p)
}

func decode(spec hosting.Spec, body string, mode field.Mode, p hosting.Place) string {
	set := spec.Fields()
	sent, err := set.DecodeJSON([]byte(body), mode)
	wrong := field.ErrorsOf(err)
	p.Sent = sent
	hosting.Complete(spec, p)
	hosting.Check(spec, p, &wrong)
	if err := wrong.In(spec.Fields()); len(err) > 0 {
		return string(err.AppendJSON(nil))
	}
	return ""
}

// answers holds every case against what it wants: an error as it is, of a
// record the named fields.
func answers(t *testing.T, kind string, p hosting.Place, cases []asked) {
	t.Helper()
	for _, c := range cases {
		spec, wrong := create(kind, c.body, p)
		if got := answerLike(c.want, spec, wrong); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", kind, short(c.body), got, c.want)
		}
	}
}

func answerLike(want string, spec hosting.Spec, wrong string) string {
	var wanted map[string]json.RawMessage
	isError := strings.Contains(want, `":["`) || strings.Contains(want, `":{"`)
	if wrong != "" || isError || json.Unmarshal([]byte(want), &wanted) != nil {
		return wrong
	}
	names := make([]string, 0, len(wanted))
	for name := range wanted {
		names = append(names, name)
	}
	return string(spec.Fields().Only(names...).AppendJSON(nil))
}

func short(s string) string { return s[:min(len(s), 300)] }

func limitedTo(storage int64, p hosting.Place) hosting.Place {
	p.Limits = p.Limits.With(hosting.StorageMB, storage)
	return p
}

func long(n int) string { return strings.Repeat("a", n) }
