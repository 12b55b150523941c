package enginetest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// Hostile are texts that quotes, escapes, character sets, templates, SQL, shells or
// the lengths of columns could spoil on their way to an engine and back.
var Hostile = []string{
	`O'Neill "the \ one"`, `x" ( "y`, "' OR 1=1; -- <b>bold</b>", "emoji 😀 and 漢字 ñ",
	"%s %00 $(id) ${HOME} {tmpl_var name='x'}", "line\r\nbreak", "  tab\tand\x7fcontrol ",
	"_x.life.example", "UPPER.Life.Example", "A.b+c@life.example", "::FFFF:192.0.2.7", "/ñ/../ü", strings.Repeat("é", 200), "Pässwörd-漢-1",
	// quotes and escapes
	`ends in \`, "`id`; DROP TABLE client; #", `\' \" \\ \0 \x41 \101`, "@ IN A 192.0.2.66", "$INCLUDE /etc/passwd",
	// templates, formats and files of programs
	"{tmpl_if name='x'}y{/tmpl_if}", "{{.}} {% x %} #{x} <%= x %>", `O:8:"stdClass":1:{s:1:"a";s:1:"b";}`, "<?php echo 1; ?>",
	"<script>alert(1)</script>&amp;&#39;", "../../../etc/passwd", "%2e%2e%2f%00%ff%", "a,b;c|d&e>f<g",
	// Unicode
	"cafe\u0301", "caf\u00e9", "abc\u202Etxt.exe", "zero\u200Bwidth\u200D\uFEFF",
	"\U0001F468\u200D\U0001F469\u200D\U0001F467 \U00020000", `\ud800`, "line\u2028para\u2029\u0085", "NUL\x00end",
	"\u00a0\u3000 blank \u00a0",
	// names
	"xn--mnchen-3ya.example", "münchen.life.example", "life.example.", "a..b.example",
	strings.Repeat("a.", 120) + "example", strings.Repeat("x", 64) + ".example",
	"info@xn--mnchen-3ya.example", "٣.example",
	// lengths and nothing
	" ", "-", strings.Repeat("x", 255), strings.Repeat("a ", 2000) + "end",
}

// usual is one more object of each kind, as callers ask for it.
func (w *world) usual(kind string) string {
	return strings.NewReplacer("{tag}", w.tag, "{domain}", w.domain(), "{password}", password).Replace(map[string]string{
		"tenant":      `{"name":"Acme GmbH","email":"ada@acme.test"}`,
		"site":        `{"tenant":1,"domain":"h.{domain}"}`,
		"database":    `{"tenant":1,"name":"{tag}_hostile","db_password":"{password}"}`,
		"dns_zone":    `{"tenant":1,"origin":"h.{domain}"}`,
		"dns_record":  `{"zone":1,"record_type":"TXT","name":"h","data":"usual"}`,
		"mail_domain": `{"tenant":1,"domain":"h.{domain}"}`,
		"mailbox":     `{"mail_domain":1,"local_part":"h","password":"{password}"}`,
		"mail_alias":  `{"mail_domain":1,"source":"h","destination":"info@{domain}"}`,
		"ftp_account": `{"site":1,"username":"{tag}_h","password":"{password}"}`,
		"shell_user":  `{"site":1,"username":"{tag}_h","password":"{password}"}`,
		"cron_job":    `{"site":1,"schedule":"@daily","command":"php cron.php"}`,
	}[kind])
}

// hostile sends every hostile text in every text field of every kind, as the panel
// does. It is refused before, or it is read back as it was sent.
func (w *world) hostile() {
	w.inhabited()
	for _, name := range append([]string{"tenant"}, kinds...) {
		kind, _ := hosting.KindNamed(name)
		told, travelled := 0, 0
		for _, f := range kind.New().Fields() {
			if !isText(f) || f.IsReadOnly() || f.OneOf != nil {
				continue
			}
			for _, text := range Hostile {
				if told++; w.isTold(kind, f, text) {
					travelled++
				}
			}
		}
		if told == 0 || travelled == 0 {
			w.Errorf("of %d hostile texts for a %s %d travelled", told, name, travelled)
		}
	}
}

func isText(f field.Field) bool {
	switch f.Value().(type) {
	case string, []string:
		return true
	}
	return false
}

// isTold sends one text, unless the panel refuses it, and tells whether it did.
func (w *world) isTold(kind hosting.Kind, f field.Field, text string) (travelled bool) {
	o, taken := w.asked(kind, f.Name, text)
	if !taken {
		return false
	}
	names := !kind.Owner && (slices.Contains(kind.NamedBy, f.Name) || o.Name != w.usually(kind).Name)
	if !names {
		o.Name, o.ID, o.Changed = w.own(kind.Name).Name, w.own(kind.Name).ID, []string{f.Name}
	}
	if checker, is := w.EngineServer.(hosting.FormChecker); is {
		wrong, err := checker.CheckForm(w.Context(), o)
		if err != nil {
			w.Fatalf("check the %s %s: %v", kind.Name, o.Name, err)
		}
		if len(wrong) > 0 {
			return false
		}
	}
	if names {
		return w.isMade(o, f.Name)
	}
	if err := w.Change(w.Context(), o); err != nil {
		w.isRefused(o, f.Name, err)
		return false
	}
	w.isReadBack(o, f.Name)
	return true
}

// usually is the usual object of a kind, in the engine's words.
func (w *world) usually(kind hosting.Kind) hosting.EngineObject {
	o, taken := w.asked(kind, "", "")
	if !taken {
		w.Fatalf("the usual %s is refused", kind.Name)
	}
	return o
}

// asked is the usual object of a kind with a text in one field, as the panel brings
// it to the engine; false: the panel refuses it.
func (w *world) asked(kind hosting.Kind, name, text string) (o hosting.EngineObject, taken bool) {
	spec, body := kind.New(), map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(w.usual(kind.Name)), &body); err != nil {
		w.Fatalf("%v", err)
	}
	if name != "" {
		body[name] = field.AppendText(nil, text)
	}
	sent, err := json.Marshal(body)
	if err != nil {
		w.Fatalf("%v", err)
	}
	place := hosting.Place{
		ID: 17, Tenant: 17, At: time.Now(), Operator: true, Parent: w.parent(kind), Limits: hosting.NoLimits(),
		NameServers: []string{"ns1.example.test.", "ns2.example.test."},
	}
	var wrong field.Errors
	place.Sent, err = spec.Fields().DecodeJSON(sent, field.Create)
	if err != nil {
		return o, false
	}
	hosting.Complete(spec, place)
	if hosting.Check(spec, place, &wrong); len(wrong) > 0 {
		return o, false
	}
	o = kind.Object(place.ID, spec.Fields().Values(), place.Parent)
	own := w.own(kind.Name)
	o.Owner, o.Parents, o.Secrets = own.Owner, own.Parents, hosting.Secrets{}
	for _, secret := range kind.Secrets() {
		o.Secrets[secret] = hosting.TextIn(spec, secret)
	}
	if o.Name = kind.NameIn(o); kind.Owner {
		o.Name, o.Ref = own.Name, own.Ref
	}
	return o, true
}

// parent are the values of what an object of the kind is a part of.
func (w *world) parent(kind hosting.Kind) field.Values {
	if parent, is := kind.Parent(); is {
		o := w.own(parent.Kind)
		v := maps.Clone(o.Values)
		v["origin"] = field.AppendText(nil, strings.TrimSuffix(o.Name, ".")+".")
		return v
	}
	return nil
}

// isMade makes an object under a hostile name, and takes it away again.
func (w *world) isMade(o hosting.EngineObject, name string) bool {
	o.ID = 0
	id, err := w.Create(w.Context(), o)
	if err != nil {
		w.isRefused(o, name, err)
		return false
	}
	o.ID = id
	w.isReadBack(o, name)
	w.remove(o)
	return true
}

// isRefused wants a refusal that cannot be mistaken for an outage.
func (w *world) isRefused(o hosting.EngineObject, name string, err error) {
	if domain.ClassOf(err) != domain.Permanent {
		w.Errorf("%s of the %s %q as %s: %v", name, o.Kind, o.Name, o.Values[name], err)
	}
}

// isReadBack compares what was sent with what is there as the panel compares them.
func (w *world) isReadBack(o hosting.EngineObject, name string) {
	kind, _ := hosting.KindNamed(o.Kind)
	found, is := w.look(o.Kind, o.Name, o.Ref)
	seen := maps.Clone(o.Values)
	maps.Copy(seen, found.Values)
	if sent, kept := hosting.Normal(kind, o.Values)[name], hosting.Normal(kind, seen)[name]; !is || string(sent) != string(kept) {
		w.Errorf("%s of the %s %q was sent as %s and is %s (found: %t)", name, o.Kind, o.Name, sent, kept, is)
	}
	if found.Refused {
		w.Errorf("%s of the %s %q as %s was refused later", name, o.Kind, o.Name, o.Values[name])
	}
}
