package ispconfig

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A certificate is no row but flags of a site. Its number is the site's, its
// name the site's domain. Ordering is raising both flags and waiting; an order
// that failed has its flags down again, and nothing says why.
var certificates = resource{kind: "ssl_certificate"}

func init() {
	certificates.apart = &partHabits{
		find: func(ctx context.Context, e *Engine, name string) (hosting.EngineObject, bool, error) {
			return issuer{e}.certificate(ctx, name)
		},
		write: func(ctx context.Context, e *Engine, o hosting.EngineObject) (int64, error) {
			return issuer{e}.order(ctx, o)
		},
		remove: func(ctx context.Context, e *Engine, o hosting.EngineObject) error { return issuer{e}.withdraw(ctx, o) },
	}
	register(&certificates)
}

// An issuer orders, installs and withdraws the certificates of sites.
type issuer struct{ engine *Engine }

var sslColumns = []string{"ssl", "ssl_letsencrypt", "ssl_domain", "ssl_cert", "active"}

// secured reads a site with the flags of its certificate.
func (c issuer) secured(ctx context.Context, argument any) (row, bool, error) {
	found, err := c.engine.api.rows(ctx, "sites_web_domain_get", members{{"primary_id", argument}}, append(sites.picks(), sslColumns...))
	switch {
	case err != nil || len(found) == 0:
		return nil, false, err
	case len(found) > 1:
		return nil, false, ambiguous(&sites)
	}
	return found[0], true, nil
}

// certificate looks at a site's certificate. There is one when the flags are
// up; it is issued when they still are once the order has been applied.
func (c issuer) certificate(ctx context.Context, domainName string) (none hosting.EngineObject, ok bool, err error) {
	if domainName == "" || strings.Contains(domainName, "%") {
		return none, false, nil
	}
	have, found, err := c.secured(ctx, sites.queries(domainName, "", c.engine.api.Servers)[0].filter)
	if err != nil || !found || !have.on("ssl") || have["domain"] != domainName {
		return none, false, err
	}
	p, err := c.engine.journal.progress(ctx, &sites, have)
	if err != nil {
		return none, false, err
	}
	if now, still, err := c.secured(ctx, have.number("domain_id")); err != nil || !still || !now.on("ssl") {
		return none, false, err // the order failed while we were looking
	}
	owner, err := c.engine.owners.ownerOf(ctx, have.number("sys_groupid"))
	if err != nil {
		return none, false, err
	}
	sort := map[bool]string{true: "acme", false: "custom"}[have.on("ssl_letsencrypt")]
	o := hosting.EngineObject{
		Kind: certificates.kind, ID: have.number("domain_id"), Owner: owner, Name: domainName,
		Applied: p.applied && !p.refused, Refused: p.refused,
		Parents: map[string]int64{"site": have.number("domain_id")}, Values: values("cert_type", sort), Observed: values(),
	}
	if ends, known := c.served(ctx, domainName); o.Applied && sort == "acme" && known {
		o.Observed["expires_at"] = field.AppendTime(nil, ends)
	}
	return o, true, nil
}

// checkTimeout is how long a look-up waits for a web server to show a
// certificate.
const checkTimeout = 3 * time.Second

// served is until when the certificate is valid that is served for a domain.
// The engine does not tell: only what everybody sees does.
func (c issuer) served(ctx context.Context, domainName string) (ends time.Time, known bool) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	ends, err := c.engine.api.Ask(ctx, domainName)
	return ends, err == nil
}

// order asks for a certificate, or installs one's own. Asking again while an
// order stands is no second order; a new one takes a withdrawal in between.
func (c issuer) order(ctx context.Context, o hosting.EngineObject) (int64, error) {
	site := o.Parents["site"]
	have, release, err := c.siteFor(ctx, o, site)
	if err != nil {
		return 0, err
	}
	defer release()
	w := &wish{EngineObject: o}
	switch {
	case w.text("cert_type") == "custom":
		return site, c.install(ctx, w, have)
	case have.on("ssl") && have.on("ssl_letsencrypt"):
		return site, c.orderAgain(ctx, w, have)
	case !have.on("active"):
		return 0, domain.Fail(domain.Permanent, "site_inactive", errors.New("the site is off"))
	}
	p, err := c.engine.journal.progress(ctx, &sites, have)
	if err != nil {
		return 0, err
	}
	if !p.applied {
		return 0, domain.Fail(domain.Waiting, "site_pending", errors.New("the site is not served yet"))
	}
	return site, c.flags(ctx, have, members{{"ssl", "y"}, {"ssl_letsencrypt", "y"}})
}

// orderAgain makes room for an order in the place of a certificate, unless the
// engine has renewed it by itself: raising flags that are up is no order.
func (c issuer) orderAgain(ctx context.Context, w *wish, have row) error {
	replaces, wanted := field.ParseTime(w.text("replaces"))
	if !wanted {
		return nil
	}
	if ends, known := c.served(ctx, have["domain"]); known && !ends.Equal(replaces) {
		return nil
	}
	if err := c.flags(ctx, have, members{{"ssl", "n"}, {"ssl_letsencrypt", "n"}}); err != nil {
		return err
	}
	return domain.Fail(domain.Waiting, "withdrawn", errors.New("the old certificate is on its way out"))
}

// siteFor takes the turn of a site and reads it.
func (c issuer) siteFor(ctx context.Context, o hosting.EngineObject, site int64) (row, func(), error) {
	if site < 1 {
		return nil, nil, badID("site", site)
	}
	if err := c.engine.survey.writable(ctx); err != nil {
		return nil, nil, err
	}
	group, err := c.engine.owners.groupOf(ctx, o.Owner)
	if err != nil {
		return nil, nil, err
	}
	release, err := c.engine.take(
		ctx, Turn{Name: "tenant/" + decimal(o.Owner), Shared: true}, siteTurn(c.engine.api.Servers.Web, site, false),
	)
	if err != nil {
		return nil, nil, err
	}
	have, found, err := c.secured(ctx, site)
	if err == nil && !found {
		err = domain.Fail(domain.Permanent, "parent_missing", fmt.Errorf("site %d is not there", site))
	}
	if err == nil && (have.number("sys_groupid") != group || o.Name != "" && o.Name != have["domain"]) {
		err = drifted("site", site)
	}
	if err != nil {
		release()
		return nil, nil, err
	}
	return have, release, nil
}

// flags writes flags of a certificate and reads them back.
func (c issuer) flags(ctx context.Context, have row, up members) error {
	if err := c.engine.update(ctx, &sites, have, append(sites.repeats(have), up...)); err != nil {
		return err
	}
	now, found, err := c.secured(ctx, have.number("domain_id"))
	if err != nil {
		return err
	}
	for _, flag := range up {
		if _, read := now[flag.name]; found && read && !same(now[flag.name], flag.value) {
			return domain.Fail(
				domain.Permanent, "not_taken",
				fmt.Errorf("the engine keeps another %s of site %d", flag.name, have.number("domain_id")),
			)
		}
	}
	return nil
}

// install hands over a certificate of the customer's own. The engine checks
// nothing of it.
func (c issuer) install(ctx context.Context, w *wish, have row) error {
	certificate, private := w.Secrets["certificate"], w.Secrets["private_key"]
	if certificate == "" || private == "" {
		return domain.Fail(domain.Permanent, "invalid", errors.New("a certificate without its key"))
	}
	return c.flags(ctx, have, members{
		{"ssl", "y"},
		{"ssl_letsencrypt", "n"},
		{"ssl_domain", either(w.text("domain"), have["domain"])},
		{"ssl_cert", certificate},
		{"ssl_key", private},
		{"ssl_bundle", w.Secrets["chain"]},
		{"ssl_action", "save"},
	})
}

// withdraw takes the flags of a certificate down.
func (c issuer) withdraw(ctx context.Context, o hosting.EngineObject) error {
	if o.ID < 1 {
		return badID(o.Kind, o.ID)
	}
	have, found, err := c.secured(ctx, o.ID)
	if err != nil || !found || !have.on("ssl") && !have.on("ssl_letsencrypt") && have["ssl_cert"] == "" {
		return err
	}
	if o.Owner == 0 {
		if o.Owner, err = c.engine.owners.ownerOf(ctx, have.number("sys_groupid")); err != nil {
			return err
		}
	}
	have, release, err := c.siteFor(ctx, o, o.ID)
	if err != nil {
		return err
	}
	defer release()
	down := members{{"ssl", "n"}, {"ssl_letsencrypt", "n"}}
	if have["ssl_cert"] != "" && !have.on("ssl_letsencrypt") {
		down = append(down, ownCertificate...)
	}
	return c.flags(ctx, have, down)
}

// ownCertificate takes a certificate of the customer's own away, with its key.
var ownCertificate = members{{"ssl_cert", ""}, {"ssl_key", ""}, {"ssl_bundle", ""}, {"ssl_request", ""}, {"ssl_action", "del"}}
