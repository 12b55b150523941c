package enginetest

import (
	"fmt"
	"slices"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// life makes one of every kind, and takes all away again, each in its turn
// and twice: the second time is a success too.
func (w *world) life() {
	w.inhabited()
	w.applied(w.own("tenant"))
	for _, kind := range kinds {
		o := w.object(kind)
		if found := w.applied(o); found.ID != o.ID || found.Owner != w.client {
			w.Errorf("%+v", found)
		}
		if all, err := w.List(w.Context(), kind, w.client); err != nil || len(all) != 1 || all[0].ID != o.ID || all[0].Name != o.Name {
			w.Errorf("list %s: %+v, %v", kind, all, err)
		}
	}
	for _, kind := range append(backwards(kinds), "tenant") {
		o := w.own(kind)
		w.remove(o)
		if found, is := w.look(kind, o.Name, o.Ref); is {
			w.Errorf("still there: %+v", found)
		}
		w.remove(o)
	}
	_, err := w.List(w.Context(), "site", w.client)
	w.fails(err, domain.Permanent, "owner_missing")
}

func backwards(all []string) []string {
	all = slices.Clone(all)
	slices.Reverse(all)
	return all
}

// readBack compares what is read with what was asked for.
func (w *world) readBack() {
	w.inhabited()
	client := w.there(w.own("tenant"))
	if client.Ref != w.number(17) || client.Name != w.number(17) || client.ID != w.client {
		w.Errorf("client: %+v", client)
	}
	for _, by := range [][2]string{{w.number(17), ""}, {"", w.number(17)}} {
		if found, is := w.look("tenant", by[0], by[1]); !is || found.ID != w.client {
			w.Errorf("by %q: %+v", by, found)
		}
	}
	if site := w.there(w.object("site")); len(site.Observed["document_root"]) <= len(`""`) {
		w.Errorf("a site without a place: %s", site.Observed)
	}
	for kind, parent := range parts {
		found := w.there(w.object(kind))
		in, told := found.Parents[fields[parent]]
		if told && in != w.made[parent] || !told && parent != "mail_domain" { // an address tells its domain itself
			w.Errorf("%s belongs to %v", kind, found.Parents)
		}
	}
	if found, is := w.look("site", strings.TrimSuffix(w.domain(), "t"), ""); is {
		w.Errorf("a part of a name is no name: %+v", found)
	}
}

// changes changes each field that may change, and again, and sees it.
func (w *world) changes() {
	w.inhabited()
	for _, c := range w.changeable() {
		o := with(w.own(c.kind), c.field, c.value)
		for range 2 {
			w.change(o)
			if found := w.applied(o); string(found.Values[c.field]) != string(o.Values[c.field]) {
				w.Errorf("%s: %s is %s, not %s", c.kind, c.field, found.Values[c.field], o.Values[c.field])
			}
		}
		o = w.own(c.kind)
		o.Secrets = nil
		w.change(o) // no field is named: all of them are what is wanted
		if found := w.there(o); found.Values[c.field] != nil && string(found.Values[c.field]) != string(o.Values[c.field]) {
			w.Errorf("%s: %s is %s again, not %s", c.kind, c.field, found.Values[c.field], o.Values[c.field])
		}
	}
}

// namedFields leaves alone what differs but is not named.
func (w *world) namedFields() {
	w.inhabited()
	o := with(w.object("ftp_account"), "quota_mb", 700, "directory", "/elsewhere")
	o.Changed = []string{"quota_mb"}
	w.change(o)
	found := w.there(o)
	if string(found.Values["quota_mb"]) != "700" || string(found.Values["directory"]) != `"/"` {
		w.Errorf("%s", found.Values)
	}
}

func (w *world) absent() {
	w.inhabited()
	for _, kind := range []string{"site", "database", "dns_zone", "mail_domain", "mailbox", "ftp_account", "shell_user"} {
		o := with(w.object(kind), "is_active", false)
		o.ID += beyond
		w.fails(w.Change(w.Context(), o), domain.Permanent, "absent")
		o.ID = 0
		w.fails(w.Change(w.Context(), o), domain.Permanent)
		w.fails(w.Remove(w.Context(), o), domain.Permanent)
	}
}

func (w *world) renamed() {
	w.inhabited()
	before := w.there(w.object("site"))
	o := with(w.object("site"), "domain", w.tag+".example")
	o.Former, o.Name = o.Name, w.tag+".example"
	for range 2 {
		w.change(o)
		after := w.applied(o)
		if after.ID != before.ID || string(after.Observed["document_root"]) != string(before.Observed["document_root"]) {
			w.Errorf("%+v", after)
		}
	}
	if found, is := w.look("site", w.domain(), ""); is {
		w.Errorf("the former name still stands: %+v", found)
	}
}

// replaced changes a record so that the server needs another one for it. Its
// number may be another then.
func (w *world) replaced() {
	w.inhabited()
	o := with(w.object("dns_record"), "record_type", "CNAME", "data", w.domain()+".")
	o.Former, o.Name = o.Name, w.record("CNAME", w.domain()+".")
	w.change(o)
	o.ID = w.there(o).ID
	w.change(o)
	if found, is := w.look("dns_record", o.Former, ""); is {
		w.Errorf("the former record still stands: %+v", found)
	}
	if all, err := w.List(w.Context(), "dns_record", w.client); err != nil || len(all) != 1 || all[0].ID != o.ID {
		w.Errorf("%+v, %v", all, err)
	}
}

// rescheduled changes what a cron job is known by, and keeps its number. The
// same job of another site is another one.
func (w *world) rescheduled() {
	w.inhabited()
	before := w.there(w.object("cron_job"))
	o := with(w.object("cron_job"), "schedule", "0 0 1 1 *", "command", "https://"+w.domain()+"/?a=50%&b=%25")
	o.Former, o.Name = o.Name, fmt.Sprintf("%d 0 0 1 1 * https://%s/?a=50%%&b=%%25", w.made["site"], w.domain())
	for range 2 {
		w.change(o)
		after := w.applied(o)
		for _, name := range o.Changed {
			if after.ID != before.ID || string(after.Values[name]) != string(o.Values[name]) {
				w.Errorf("%d: %s is %s, not %s", after.ID, name, after.Values[name], o.Values[name])
			}
		}
	}
	if found, is := w.look("cron_job", o.Former, ""); is {
		w.Errorf("the former job still runs: %+v", found)
	}
	other := w.object("site")
	other.Name = w.tag + "-other.test"
	other.Values = values("domain", other.Name, "ip_address", "*", "is_active", true)
	site := w.create(other)
	twin := o
	twin.ID, twin.Former, twin.Changed, twin.Parents = 0, "", nil, map[string]int64{"site": site}
	twin.Name = strings.Replace(o.Name, fmt.Sprint(w.made["site"]), fmt.Sprint(site), 1)
	if id := w.create(twin); id == o.ID {
		w.Errorf("one job for two sites: %d", id)
	}
	shell := with(w.there(o), "command", "php [web_root]/cron.php --at=$(date +%H)")
	shell.Former, shell.Name = o.Name, fmt.Sprintf("%d 0 0 1 1 * php [web_root]/cron.php --at=$(date +%%H)", w.made["site"])
	w.change(shell)
	w.there(shell)
}

// databases are detached when their site goes.
func (w *world) databases() {
	w.inhabited()
	for kind, parent := range parts {
		if parent == "site" {
			w.remove(w.object(kind))
		}
	}
	w.remove(w.object("site"))
	if found := w.there(w.object("database")); found.Parents["site"] != 0 {
		w.Errorf("%+v", found)
	}
	o := w.object("database")
	delete(o.Parents, "site")
	w.change(with(o, "is_active", false, "site", nil))
	w.remove(o)
}

// usage tells of what one client has, and of no other's.
func (w *world) usage() {
	w.inhabited()
	other := w.create(w.tenant(18))
	own, err := w.Usage(w.Context(), w.client)
	if err != nil || own.ReadAt.IsZero() {
		w.Errorf("%+v, %v", own, err)
	}
	for _, kind := range []string{"site", "mailbox", "database"} {
		if !slices.ContainsFunc(own.Storage, func(m hosting.Measure) bool { return m.Kind == kind && m.Name == w.object(kind).Name }) {
			w.Errorf("no measure of the %s: %+v", kind, own.Storage)
		}
	}
	if foreign, err := w.Usage(w.Context(), other); err != nil || len(foreign.Storage) != 0 || len(foreign.Traffic) != 0 {
		w.Errorf("%+v, %v", foreign, err)
	}
	_, err = w.Usage(w.Context(), other+beyond)
	w.fails(err, domain.Permanent, "owner_missing")
}
