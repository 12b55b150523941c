package ispconfig

import (
	"context"
	"fmt"
	"net/netip"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// A site is a virtual host. Its number names its directory and its system
// user, which stay whatever its domain becomes.
var sites = resource{
	kind: "site", table: "web_domain", lower: true, remade: true, off: members{{"active", "n"}}, limits: []string{"limit_web_domain"},
	storage: &storage{"quota_get_by_user", "domain", "used_raw", "used"},
	key:     "domain_id", stems: []string{"sites_web_domain"}, functions: stem("sites_web_domain"),
	on:    func(s Servers) int64 { return s.Web },
	reads: []string{"document_root", "system_user", "system_group"},
	name:  named("domain"), addresses: func(r row) bool { return r["type"] == "vhost" },
	queries: func(name, _ string, s Servers) []query {
		return []query{{"sites_web_domain", members{{"domain", name}, {"server_id", s.Web}, {"type", "vhost"}}}}
	},
	turns: func(w *wish) []Turn {
		return []Turn{siteTurn(w.server, w.ID, false), {Name: "site/" + w.Name}}
	},
	columns: []column{
		given("server_id", func(w *wish) any { return w.server }),
		given("ip_address", func(w *wish) any { return address(w, netip.Addr.Is4, w.anyAddress()) }).from("ip_address").
			shows("ip_address", func(r row) any { return either(r["ipv6_address"], r["ip_address"]) }),
		given("ipv6_address", func(w *wish) any { return address(w, netip.Addr.Is6, "") }).from("ip_address"),
		changing(natural("domain")),
		fixed("type", "vhost"), fixed("parent_domain_id", 0), fixed("vhost_type", "name"),
		storageColumn("hd_quota"), fixed("traffic_quota", -1), // which would switch sites off and on by itself
		fixed("cgi", "n"), fixed("ssi", "n"), fixed("suexec", "y"), fixed("errordocs", 1),
		given("subdomain", func(w *wish) any { return alsoWWW(w.Name) }),
		fixed("ssl", "n"), fixed("ssl_letsencrypt", "n"), fixed("php", "php-fpm"), fixed("allow_override", "All"), fixed("stats_type", ""),
		fixed("pm", "ondemand"),
		always(fixed("pm_max_children", 10)), always(fixed("pm_start_servers", 2)),
		always(fixed("pm_min_spare_servers", 1)), always(fixed("pm_max_spare_servers", 5)),
		fixed("pm_process_idle_timeout", 10), fixed("pm_max_requests", 0),
		always(fixed("log_retention", 30)),
		fixed("http_port", 80), fixed("https_port", 443),
		changing(flag("active", "is_active")),
	},
	forms: []form{
		{
			field: "ip_address", sent: "IPv4 and IPv6 in columns of their own; `*` for any", stored: "as sent, an unknown address too",
			refused: "The hosting server does not have this address.", known: knowsAddress,
		},
		{field: "ip_address", refused: "The sites of this hosting server share its addresses: use *.", known: fitsRule},
		{field: "ip_address", refused: "Only operators give a site an address that others share.", known: mayAddress},
	},
}

func init() {
	sites.habits = habits{
		prepare: siteReady, says: tellAddress, change: changeSite, lacks: siteLacks, keeps: siteKeeps, leaving: detachDatabases,
		remarks: siteRemarks,
	}
	register(&sites)
}

// ofSite is how a row names the site that it belongs to.
var ofSite = map[string]string{"parent_domain_id": "site"}

func siteTurn(server, id int64, shared bool) Turn {
	return Turn{Name: fmt.Sprintf("vhost/%d/%d", server, id), Shared: shared}
}

// address is the site's address in the column that takes it. The engine keeps
// IPv6 beside the IPv4 address, which is then any.
func address(w *wish, fits func(netip.Addr) bool, otherwise string) string {
	a, err := netip.ParseAddr(w.text("ip_address"))
	if err != nil || !fits(a) {
		return otherwise
	}
	return a.String()
}

// anyAddress is what the column of a site's IPv4 address has where the site names none.
func (w *wish) anyAddress() string {
	if w.shared.IsValid() {
		return w.shared.String()
	}
	return "*"
}

func alsoWWW(domain string) string {
	if strings.HasPrefix(domain, "www.") || strings.HasPrefix(domain, "*.") {
		return "none"
	}
	return "www"
}

// changeSite switches a site on and off by the call that is made for it.
func changeSite(ctx context.Context, e *Engine, _ *wish, have row, params members) error {
	var status any
	for _, m := range params {
		if m.name == "active" {
			status = map[string]string{"y": "active", "n": "inactive"}[stored(m.value)]
		}
	}
	rest := without(params, "active")
	if status != nil {
		err := e.api.call(ctx, "sites_web_domain_set_status", members{{"primary_id", have.number("domain_id")}, {"status", status}}, nil)
		if err != nil || len(rest) == len(sites.repeats(have)) {
			return err
		}
	}
	return e.update(ctx, &sites, have, rest)
}

// underSite reads the site that an object belongs to. The engine would put an
// account into any tenant's site.
func underSite(ctx context.Context, e *Engine, w *wish) error {
	site := w.Parents["site"]
	if site == 0 && w.Kind == "database" {
		return nil
	}
	have, err := e.api.parent(ctx, &sites, site, w.group)
	if err != nil {
		return err
	}
	if w.Kind != "database" {
		if have["document_root"] == "" || have["system_user"] == "" || have["system_group"] == "" {
			return domain.Fail(domain.Transient, "parent_missing", fmt.Errorf("site %d has no directory yet", site))
		}
		w.server = have.number("server_id")
	}
	w.site = have
	return nil
}

// parent reads a row that another one shall belong to.
func (c *connection) parent(ctx context.Context, r *resource, id, group int64) (row, error) {
	if id < 1 {
		return nil, domain.Fail(domain.Permanent, "parent_missing", fmt.Errorf("the %s is not told", r.kind))
	}
	have, present, err := c.get(ctx, r, id)
	switch {
	case err != nil:
		return nil, err
	case !present:
		return nil, domain.Fail(domain.Permanent, "parent_missing", fmt.Errorf("%s %d is not there", r.kind, id))
	case have.number("sys_groupid") != group:
		return nil, drifted(r.kind, id)
	}
	return have, nil
}

func siteKeeps(ctx context.Context, e *Engine, have row) (string, error) {
	for _, r := range resources {
		if !r.needs {
			continue
		}
		found, err := e.api.seek(ctx, r, []query{{r.stems[0], members{{"parent_domain_id", have["domain_id"]}}}})
		if err != nil {
			return "", err
		}
		if len(found) > 0 {
			return r.kind, nil
		}
	}
	return "", nil
}

// detachDatabases lets a site's databases stay when the site goes.
func detachDatabases(ctx context.Context, e *Engine, site row) error {
	found, err := e.api.seek(ctx, &databases, []query{{databases.stems[0], members{{"parent_domain_id", site["domain_id"]}}}})
	if err != nil {
		return err
	}
	for _, have := range found {
		if have["sys_groupid"] != site["sys_groupid"] {
			return drifted("database", have.number("database_id"))
		}
		if err := e.update(ctx, &databases, have, members{{"parent_domain_id", 0}}); err != nil {
			return err
		}
	}
	return nil
}

func siteRemarks(have row, observed field.Values) {
	put(observed, "document_root", have["document_root"])
	put(observed, "system_user", have["system_user"])
	put(observed, "system_group", have["system_group"])
}
