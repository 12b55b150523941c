package enginetest

import (
	"slices"
	"strings"
	"sync"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// until makes everything that a kind needs, and returns the kind's object.
func (w *world) until(kind string) hosting.EngineObject {
	w.Helper()
	if kind == "tenant" {
		return w.tenant(17)
	}
	w.client = w.create(w.tenant(17))
	for _, k := range []string{"site", parts[kind]} {
		if k != kind && k != "" && w.made[k] == 0 {
			w.made[k] = w.create(w.object(k))
		}
	}
	return w.object(kind)
}

// fresh forgets the client of the kind before: each kind has one of its own.
func (w *world) emptied() {
	w.Helper()
	for _, kind := range backwards(kinds) {
		if found, is := w.look(kind, w.object(kind).Name, ""); is {
			w.remove(hosting.EngineObject{Kind: kind, ID: found.ID, Owner: found.Owner, Name: found.Name, Values: w.object(kind).Values})
		}
	}
	if found, is := w.look("tenant", w.number(17), w.number(17)); is {
		w.remove(hosting.EngineObject{Kind: "tenant", ID: found.ID, Name: found.Name, Ref: found.Ref})
	}
	w.made, w.client = map[string]int64{}, 0
}

// lostCreation loses the answer to the creation of each kind. A look-up finds
// what was made, and a second creation makes no second object.
func (w *world) lostCreation() {
	for _, kind := range append([]string{"tenant"}, kinds...) {
		o := w.until(kind)
		w.lose("create", kind)
		_, err := w.Create(w.Context(), o)
		w.fails(err, domain.Unknown)
		found := w.there(o)
		if found.Owner != o.Owner || found.Ref != o.Ref {
			w.Errorf("not to be known as ours: %+v", found)
		}
		if id, err := w.Create(w.Context(), o); err != nil {
			w.fails(err, domain.Permanent, "name_taken")
		} else if id != found.ID {
			w.Errorf("a second %s", kind)
		}
		w.emptied()
	}
}

func (w *world) lostChange() {
	w.inhabited()
	for _, c := range w.changeable() {
		o := with(w.own(c.kind), c.field, c.value)
		w.lose("change", c.kind)
		w.fails(w.Change(w.Context(), o), domain.Unknown)
		w.change(o)
		if found := w.there(o); string(found.Values[c.field]) != string(o.Values[c.field]) {
			w.Errorf("%s: %s is %s", c.kind, c.field, found.Values[c.field])
		}
		o = w.own(c.kind)
		o.Secrets = nil
		w.change(o)
	}
}

func (w *world) lostRemoval() {
	w.inhabited()
	for _, kind := range append(backwards(kinds), "tenant") {
		o := w.own(kind)
		w.lose("remove", kind)
		w.fails(w.Remove(w.Context(), o), domain.Unknown)
		w.remove(o)
		if found, is := w.look(kind, o.Name, o.Ref); is {
			w.Errorf("still there: %+v", found)
		}
	}
}

// twins are asked for at once; one of each is made.
func (w *world) twins() {
	for _, kind := range append([]string{"tenant"}, kinds...) {
		o := w.until(kind)
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				if _, err := w.Create(w.Context(), o); err != nil {
					w.fails(err, domain.Permanent, "name_taken")
				}
			})
		}
		all.Wait()
		found := w.there(o)
		owner := w.client
		if kind == "tenant" {
			owner = found.ID
		}
		if listed, err := w.List(w.Context(), kind, owner); err != nil || len(listed) != 1 {
			w.Errorf("%d of %s, %v", len(listed), kind, err)
		}
		w.emptied()
	}
}

func (w *world) taken() {
	w.inhabited()
	other := w.create(w.tenant(18))
	for _, kind := range []string{"site", "database", "dns_zone", "mail_domain"} {
		o := w.object(kind)
		o.ID, o.Owner = 0, other
		delete(o.Parents, "site")
		_, err := w.Create(w.Context(), o)
		w.fails(err, domain.Permanent, "name_taken")
		if found := w.there(o); found.Owner != w.client || found.ID != w.made[kind] {
			w.Errorf("%+v", found)
		}
	}
	o := w.tenant(19)
	o.Name = w.number(17)
	_, err := w.Create(w.Context(), o)
	w.fails(err, domain.Permanent, "name_taken")
}

// foreign asks for things of one client in the name of another.
func (w *world) foreign() {
	w.inhabited()
	other := w.create(w.tenant(18))
	for _, kind := range kinds {
		o := w.object(kind)
		o.Owner, o.Secrets = other, nil
		w.fails(w.Change(w.Context(), with(o, "is_active", false)), domain.Permanent, "drift")
		w.fails(w.Remove(w.Context(), o), domain.Permanent, "drift")
		another := w.object(kind)
		another.Name = "other-" + another.Name
		if kind == "dns_record" || kind == "cron_job" { // their names are values, and their parents tell
			another.Parents = map[string]int64{fields[parts[kind]]: w.made[parts[kind]] + beyond}
		}
		w.fails(w.Remove(w.Context(), another), domain.Permanent, "drift")
	}
	for kind := range parts {
		o := w.object(kind)
		o.ID, o.Owner, o.Name = 0, other, w.beside(o.Name)
		_, err := w.Create(w.Context(), o)
		w.fails(err, domain.Permanent, "drift", "parent_missing")
	}
	for _, kind := range kinds {
		if found := w.there(w.object(kind)); found.Owner != w.client || string(found.Values["is_active"]) == "false" {
			w.Errorf("touched: %+v", found)
		}
	}
	client := w.tenant(18)
	client.ID = w.client
	w.fails(w.Change(w.Context(), with(client, "max_sites", 1)), domain.Permanent, "drift")
	w.fails(w.Remove(w.Context(), client), domain.Permanent, "drift")
}

// beside is another name in the same place.
func (w *world) beside(name string) string {
	if _, is := hosting.ParseRecordName(name); is {
		return strings.Replace(name, "www.", "ftp.", 1)
	}
	if strings.HasSuffix(name, w.command()) {
		return name + "&more"
	}
	return "x" + name
}

func (w *world) orphans() {
	w.inhabited()
	for _, kind := range kinds {
		o := w.object(kind)
		o.ID, o.Name = 0, w.beside(o.Name)
		homeless := o
		homeless.Owner = 0
		_, err := w.Create(w.Context(), homeless)
		w.fails(err, domain.Permanent, "owner_missing")
		homeless.Owner = w.client + beyond
		_, err = w.Create(w.Context(), homeless)
		w.fails(err, domain.Permanent, "owner_missing")
	}
	for kind, parent := range parts {
		o := w.object(kind)
		o.ID, o.Name = 0, w.beside(o.Name)
		o.Parents = map[string]int64{fields[parent]: w.made[parent] + beyond}
		_, err := w.Create(w.Context(), o)
		w.fails(err, domain.Permanent, "parent_missing")
	}
}

// leftBehind removes what others could not be without.
func (w *world) leftBehind() {
	w.inhabited()
	for _, kind := range []string{"tenant", "site", "dns_zone", "mail_domain"} {
		w.fails(w.Remove(w.Context(), w.own(kind)), domain.Permanent, "owns_others")
	}
	for _, kind := range append([]string{"tenant"}, kinds...) {
		w.there(w.own(kind))
	}
}

func (w *world) names() {
	w.client = w.create(w.tenant(17))
	for kind, wrong := range map[string][]string{
		"site":        {"münchen-" + w.domain(), "A" + w.domain(), "a b-" + w.domain(), "a%" + w.domain()},
		"mail_domain": {"münchen-" + w.domain(), "A" + w.domain()},
		"dns_zone":    {w.domain(), "A" + w.domain() + "."},
	} {
		for _, name := range wrong {
			o := w.object(kind)
			o.Name = name
			_, err := w.Create(w.Context(), o)
			w.fails(err, domain.Permanent, "invalid")
			if all, err := w.List(w.Context(), kind, w.client); err != nil || len(all) != 0 {
				w.Errorf("%s: %+v, %v", name, all, err)
			}
		}
	}
}

func (w *world) secretless() {
	for _, kind := range []string{"database", "mailbox", "ftp_account"} {
		o := w.until(kind)
		o.Secrets = nil
		_, err := w.Create(w.Context(), o)
		w.fails(err, domain.Permanent, "secret_needed")
		if found, is := w.look(kind, o.Name, ""); is {
			w.Errorf("%+v", found)
		}
		w.emptied()
	}
}

// secrets change, and neither the first nor the second is kept or told.
func (w *world) secrets() {
	w.inhabited()
	for _, kind := range []string{"database", "mailbox", "ftp_account", "shell_user"} {
		o := w.object(kind)
		for name := range o.Secrets {
			o.Secrets = hosting.Secrets{name: newPassword}
			o.Changed = []string{name}
		}
		w.change(o)
	}
	for _, secret := range []string{password, newPassword} {
		if strings.Contains(w.Books(), secret) {
			w.Errorf("the server keeps or tells %q", secret)
		}
	}
}

func (w *world) unsupported() {
	w.client = w.create(w.tenant(17))
	for _, kind := range append(slices.Clone(w.Lacks), "vm", "") {
		o := hosting.EngineObject{Kind: kind, ID: 1, Owner: w.client, Name: w.domain()}
		_, err := w.Create(w.Context(), o)
		w.fails(err, domain.Permanent, "not_supported")
		w.fails(w.Change(w.Context(), o), domain.Permanent, "not_supported")
		w.fails(w.Remove(w.Context(), o), domain.Permanent, "not_supported")
		_, _, err = w.Find(w.Context(), kind, o.Name, "")
		w.fails(err, domain.Permanent, "not_supported")
		_, err = w.List(w.Context(), kind, w.client)
		w.fails(err, domain.Permanent, "not_supported")
	}
}
