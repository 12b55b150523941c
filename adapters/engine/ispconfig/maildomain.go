package ispconfig

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strings"

	"hostpanel/domain"
)

// A mail domain is always sent with its name as it is stored: an update
// without it renames the domain to nothing, and every mailbox with it.
var mailDomains = resource{
	kind: "mail_domain", table: "mail_domain", lower: true, off: members{{"active", "n"}},
	limits: []string{"limit_maildomain", "limit_mailcatchall"},
	key:    "domain_id", stems: []string{"mail_domain"}, functions: stem("mail_domain"),
	on: func(s Servers) int64 { return s.Mail }, name: named("domain"),
	turns: func(w *wish) []Turn { return []Turn{{Name: "maildomain/" + w.Name}} },
	columns: []column{
		always(given("server_id", func(w *wish) any { return w.server })),
		always(natural("domain")),
		always(changing(flag("active", "is_active"))),
		dkim("dkim", func(w *wish) any { return yes(w.flag("dkim_enabled")) }).shows(
			"dkim_enabled", func(r row) any { return r.on("dkim") },
		),
		dkim("dkim_selector", func(w *wish) any { return w.text("dkim_selector") }),
		dkim("dkim_public", func(w *wish) any { return publicPEM(w.text("dkim_public")) }).alike(sameKey),
		secret("dkim_private", "dkim_private"),
	},
	forms: []form{
		{field: "dkim_public", sent: "in PEM, without the tags of the record"},
		{field: "dkim_private", sent: "in PEM, once", stored: "readable to who may read the engine's tables"},
	},
}

// publicPEM is the public key of a DKIM record as the engine keeps it.
func publicPEM(record string) string {
	_, key, found := strings.Cut(record, "p=")
	if !found {
		return record
	}
	der, err := base64.StdEncoding.DecodeString(key)
	if err != nil {
		return record
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// sameKey compares keys, however their lines are broken.
func sameKey(w *wish, have row) bool {
	return strings.Join(strings.Fields(have["dkim_public"]), "") == strings.Join(strings.Fields(publicPEM(w.text("dkim_public"))), "")
}

// signerReady refuses a domain that is to sign with a key that the engine does not
// have: it would send mails unsigned, or signed with another.
func signerReady(ctx context.Context, e *Engine, w *wish) error {
	if !w.flag("dkim_enabled") || w.Secrets["dkim_private"] != "" || !w.touches([]string{"dkim_enabled", "dkim_selector", "dkim_public"}) {
		return nil
	}
	if w.ID != 0 {
		have, present, err := e.api.get(ctx, &mailDomains, w.ID)
		if err != nil || present && sameKey(w, have) {
			return err
		}
	}
	return domain.Fail(
		domain.Permanent, "secret_needed",
		errors.New("the engine has another key than the mail domain: choose another selector"),
	)
}

func init() {
	mailDomains.habits = habits{prepare: signerReady, find: findMailDomain, keeps: mailDomainKeeps}
	register(&mailDomains)
}

// dkim is a column that is only sent for domains that sign.
func dkim(name string, value func(*wish) any) column {
	return given(name, func(w *wish) any {
		if !w.flag("dkim_enabled") && (name != "dkim" || w.ID == 0) {
			return nil
		}
		return value(w)
	}).from("dkim_enabled", "dkim_selector", "dkim_public")
}

// underMailDomain reads the mail domain that an address belongs to.
func underMailDomain(ctx context.Context, e *Engine, w *wish) error {
	have, err := e.api.parent(ctx, &mailDomains, w.Parents["mail_domain"], w.group)
	if err != nil {
		return err
	}
	if _, at, _ := strings.Cut(w.Name, "@"); at != have["domain"] {
		return drifted("mail_domain", have.number("domain_id"))
	}
	w.server = have.number("server_id")
	return nil
}

func findMailDomain(ctx context.Context, e *Engine, name string) ([]row, error) {
	if name == "" {
		return nil, nil
	}
	return e.api.rows(ctx, "mail_domain_get_by_domain", members{{"domain", name}}, mailDomains.picks())
}

func mailDomainKeeps(ctx context.Context, e *Engine, have row) (string, error) {
	for _, r := range []*resource{&mailboxes, &aliases} {
		found, err := e.api.owned(ctx, r, have.number("sys_groupid"))
		if err != nil {
			return "", err
		}
		for _, f := range found {
			if strings.HasSuffix(r.name(f), "@"+have["domain"]) {
				return r.kind, nil
			}
		}
	}
	return "", nil
}
