package ispconfig

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A tenant is a client of the engine. Its number with us is the customer
// number; the row itself belongs to the administrator.
var clients = resource{
	kind: "tenant", table: "client", key: "client_id", identity: "client_id", stems: []string{"client"}, functions: stem("client"),
	remade: true, silent: true,
	on:    func(s Servers) int64 { return s.Web },
	reads: []string{"customer_no", "username", "locked", "canceled", "created_at"},
	name:  named("username"),
	queries: func(name, ref string, _ Servers) []query {
		if ref != "" {
			return []query{{"client", members{{"customer_no", ref}}}}
		}
		return []query{{"client", members{{"username", name}}}}
	},
	turns: func(w *wish) []Turn {
		return []Turn{{Name: "tenant/" + decimal(w.ID)}, {Name: "customer/" + w.Ref}, {Name: "login/" + w.Name}}
	},
	columns: []column{
		given("username", func(w *wish) any { return either(w.login, w.Name) }),
		changing(given("customer_no", func(w *wish) any { return w.reference })),
		given(
			"contact_name",
			func(w *wish) any { return short(either(w.text("contact_name"), w.text("name"), w.Ref), 64) },
		).from("contact_name", "name"),
		given("company_name", func(w *wish) any { return short(either(w.text("company_name"), w.text("name")), 64) }).
			from("company_name", "name"),
		given("email", func(w *wish) any { return addressOf(w) }).from("email").shows("email", func(r row) any { return r["email"] }).
			alike(func(w *wish, have row) bool { return strings.EqualFold(have["email"], addressOf(w)) }),
		changing(text("telephone", "phone")),
		changing(text("street", "address")),
		given("city", func(w *wish) any { return short(w.text("city"), 64) }).from("city"),
		changing(text("zip", "postal_code")),
		given("country", func(w *wish) any { return strings.ToUpper(w.text("country")) }).from("country"),
		secret("password", "password"),
		fixed("language", "en"), fixed("usertheme", "default"),
		fixed("web_php_options", "no,php-fpm"), fixed("ssh_chroot", "no,jailkit"), shellCommands,
		fixed("limit_client", 0), fixed("locked", "n"), fixed("canceled", "n"),
		given("default_webserver", func(w *wish) any { return w.server }),
		offeredServer("web_servers", func(s Servers) int64 { return s.Web }),
		defaultServer("default_mailserver", func(s Servers) int64 { return s.Mail }),
		defaultServer("default_dbserver", func(s Servers) int64 { return s.Database }),
		defaultServer("default_dnsserver", func(s Servers) int64 { return s.DNS }),
		offeredServer("mail_servers", func(s Servers) int64 { return s.Mail }),
		offeredServer("db_servers", func(s Servers) int64 { return s.Database }),
		offeredServer("dns_servers", func(s Servers) int64 { return s.DNS }),
		limit("limit_web_quota", "max_storage_mb", hosting.Unlimited), limit("limit_traffic_quota", "max_traffic_mb", hosting.Unlimited),
		limit("limit_mailquota", "max_storage_mb", hosting.Unlimited),
		unread(limit("limit_database_quota", "max_storage_mb", hosting.Unlimited)), fixed("limit_dns_record", hosting.Unlimited),
	}, // and the limits of each kind
	forms: []form{
		sending(storable("name"), "where the other two are blank"), sending(storable("contact_name"), "its first 64 characters"),
		sending(storable("company_name"), "its first 64 characters"), sending(storable("city"), "its first 64 characters"),
		storable("address"), storable("postal_code"), storable("phone"),
		{field: "email", sent: "after an erasure: `<customer number>@erased.invalid`", stored: "in lower case"},
		{
			field: "tax_id",
			sent:  "never: the engine looks numbers of the European Union up at an authority, and refuses the client meanwhile",
		},
	},
}

func init() {
	clients.habits = habits{
		insert: addClient, change: changeClient, made: spreadStorage, lacks: clientLacks, keeps: clientOwns, remarks: clientRemarks,
	}
	register(&clients)
}

// addressOf is the client's address. The engine takes none without, so a client
// whose person was erased has one where no mail can go.
func addressOf(w *wish) string { return either(w.text("email"), w.Ref+"@erased.invalid") }

// defaultServer is the server on which the client itself would make something.
func defaultServer(name string, of func(Servers) int64) column {
	return changing(given(name, func(w *wish) any { return of(w.servers) }))
}

// offeredServer lists the server on which the engine's own panel lets the client make
// something. A list that has it among others stays.
func offeredServer(name string, of func(Servers) int64) column {
	return changing(given(name, func(w *wish) any { return decimal(of(w.servers)) })).alike(func(w *wish, have row) bool {
		return slices.Contains(strings.Split(have[name], ","), decimal(of(w.servers)))
	})
}

// shellCommands lets the client run shell commands in the jails of its sites. The engine's
// `full`, which an operator has allowed a client, stays.
var shellCommands = changing(fixed("limit_cron_type", "chrooted")).alike(func(_ *wish, have row) bool {
	return have["limit_cron_type"] == "chrooted" || have["limit_cron_type"] == "full"
})

// unread is a column that is written only: what it says is no difference.
func unread(c column) column { c.show = nil; return c }

// limit is the tenant's limit that a field has; where it is not told, it is unset.
func limit(name, field string, unset int64) column {
	c := given(name, func(w *wish) any {
		if !w.has(field) {
			return unset
		}
		return w.number(field)
	}).from(field)
	return c.shows(field, func(r row) any { return r.number(name) })
}

// short is a text as a column of that many characters keeps it. The engine would cut
// it without a word.
func short(s string, most int) string {
	characters := []rune(s)
	return string(characters[:min(len(characters), most)])
}

func either(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

// addClient makes a client. Its own group is what its rows will belong to.
func addClient(ctx context.Context, e *Engine, w *wish) (int64, error) {
	if w.Ref == "" {
		return 0, domain.Fail(domain.Permanent, "invalid", fmt.Errorf("client %s without a customer number", w.Name))
	}
	if w.Secrets["password"] == "" { // no login at the engine itself, least of all by an empty password
		w.Secrets = map[string]string{"password": unguessable()}
	}
	longer, end := lasting(ctx, clientLimit)
	defer end()
	var made id
	for _, w.login = range hosting.Logins(w.Name) {
		err := e.api.call(longer, "client_add", members{{"reseller_id", 0}, {"params", clients.first(w)}}, &made)
		if !refusedAs(err, conflict) {
			return int64(made), err
		}
		if unusable, unread := e.owners.unusable(ctx, w.login, w.Name == w.Ref); unread != nil || !unusable {
			return 0, errors.Join(err, unread)
		}
	}
	return 0, taken(&clients)
}

// clientRemarks tells the login where it is not the one that was asked for.
func clientRemarks(have row, observed field.Values) {
	if hosting.LoginAsked(have["username"]) != have["username"] {
		put(observed, "username", have["username"])
	}
}

// changeClient updates a client. Without an empty password the engine would hash the hash.
// With a `locked` of n, which it takes from the row, it would turn on again whatever of the
// client's is off; it stores an empty one as n and does not act on it. What it has turned on
// all the same is put off again.
func changeClient(ctx context.Context, e *Engine, w *wish, have row, params members) error {
	password := w.Secrets["password"]
	params = without(params, "password")
	if len(params) > 0 {
		asleep, err := e.asleep(ctx, w.group)
		if err != nil {
			return err
		}
		params = append(params, member{"password", ""})
		for _, flag := range []string{"locked", "canceled"} {
			if have[flag] == "n" {
				params = append(params, member{flag, ""})
			}
		}
		err = e.api.call(ctx, "client_update", members{{"client_id", w.ID}, {"reseller_id", 0}, {"params", params}}, nil)
		if again := e.lull(ctx, asleep); err == nil {
			err = again
		}
		if err != nil {
			return err
		}
	}
	if password == "" {
		return nil
	}
	return afterwards(e.api.call(ctx, "client_change_password", members{{"client_id", w.ID}, {"new_password", password}}, nil))
}

func without(all members, name string) (rest members) {
	for _, m := range all {
		if m.name != name {
			rest = append(rest, m)
		}
	}
	return rest
}

// clientOwns names a kind of which the client still owns something: it would
// stay behind without an owner.
func clientOwns(ctx context.Context, e *Engine, have row) (string, error) {
	group, err := e.owners.groupOf(ctx, have.number("client_id"))
	if ownerless(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for _, r := range resources {
		if r == &clients || r.apart != nil {
			continue
		}
		found, err := e.api.seek(ctx, r, []query{{r.stems[0], members{{"sys_groupid", group}}}})
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return r.kind, nil
		}
	}
	return "", nil
}

// RemoveEverything removes a client with all that belongs to it, for good. It
// is for the end of a terminated tenant's grace period, after an operator
// has agreed, and never for undoing anything. The client is found by its
// customer number, and must be the one that o names.
func (e *Engine) RemoveEverything(ctx context.Context, o hosting.EngineObject) error {
	if o.Ref == "" || o.ID < 1 {
		return badID("tenant", o.ID)
	}
	if err := e.survey.writable(ctx); err != nil {
		return err
	}
	release, err := e.take(ctx, Turn{Name: "tenant/" + decimal(o.ID)})
	if err != nil {
		return err
	}
	defer release()
	found, err := e.api.clientsBy(ctx, o.Ref)
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return nil
	case len(found) > 1 || found[0].number("client_id") != o.ID || !e.api.refers(found[0]["customer_no"], o.Ref):
		return drifted("tenant", o.ID)
	}
	if err := e.keepReserved(ctx, o.ID); err != nil {
		return err
	}
	if err := e.api.call(ctx, "client_delete_everything", members{{"client_id", o.ID}}, nil); err != nil {
		return err
	}
	e.owners.groups.forget(o.ID)
	return e.gone(ctx, &clients, o.ID)
}

// keepReserved refuses to remove a client with everything that has a row with a name of the
// server itself.
func (e *Engine) keepReserved(ctx context.Context, client int64) error {
	group, err := e.owners.groupOf(ctx, client)
	if ownerless(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, r := range resources {
		if r.reserved == nil {
			continue
		}
		owned, err := e.api.owned(ctx, r, group)
		if err != nil {
			return err
		}
		for _, have := range owned {
			if err := r.keep(have); err != nil {
				return err
			}
		}
	}
	return nil
}
