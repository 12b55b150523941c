package hosting

import (
	"net/netip"

	"hostpanel/domain/field"
)

var sites = Kind{
	Name: "site", Class: "Site", Label: "site", Collection: "sites", EngineID: "hosting_site_id", CanBeDisabled: true, Soft: true,
	Nouns:   map[string]string{"en": "site", "es": "sitio"},
	Plurals: map[string]string{"en": "Sites", "es": "Sitios"},
	Shown: words("id tenant tenant_name domain hosting_site_id ip_address document_root is_active ssl_enabled " +
		"sync_status sync_error created_at updated_at"),
	Unique: []string{"domain"}, Claims: "domain",
	Filters: []string{"domain", "ip_address", "ssl_enabled"}, Search: []string{"domain"}, Ordering: []string{"domain"}, Called: "domain",
	NamedBy: []string{"domain"}, Quota: "sites", Plan: "quota_sites", Verbs: All, Writers: Member, New: spec[Site],
}

// A Site is a website.
type Site struct {
	Domain       string
	IPAddress    string
	IsActive     bool
	SSLEnabled   bool
	DocumentRoot string // empty until the engine reports it
}

func (s *Site) Fields() field.Set {
	return field.Set{
		field.Text("domain", &s.Domain).Required().Is(field.Domain),
		field.Text("ip_address", &s.IPAddress).Default("*").Emptied().Is(field.IPOrAny).Doc(
			"An address, or * for all addresses; null and blank are *.",
		),
		field.Flag("is_active", &s.IsActive).Default(true),
		field.Flag("ssl_enabled", &s.SSLEnabled).Default(false).Doc("Serve HTTPS once a certificate is issued."),
		field.Text("document_root", &s.DocumentRoot).ReadOnly(),
	}
}

// check keeps HTTPS off where the package has none. What is on already stays.
func (s *Site) check(p Place, wrong *field.Errors) {
	if s.SSLEnabled && p.Limits.Lacks(SSLEnabled) && p.Sent.Has("ssl_enabled") && string(p.Before["ssl_enabled"]) != "true" {
		wrong.Add("ssl_enabled", limitReached(certificates.Quota, 0, 0))
	}
}

var proxies = Kind{
	Name: "proxy", Class: "Proxy", Label: "proxy", CanBeDisabled: true,
	Unique:  []string{"domain"},
	Refs:    []Reference{{Field: "site", Kind: "site", Parent: true}},
	NamedBy: []string{"domain"}, Called: "domain", Writers: Member, New: spec[Proxy],
}

// A Proxy takes the calls for a site and passes them on to the engine's web
// server. It is made along with a site, and goes with it.
type Proxy struct {
	Site     int64
	Domain   string
	Upstream string // "192.0.2.1:80"
	IsActive bool
}

// Fields are the proxy.
func (p *Proxy) Fields() field.Set {
	return field.Set{
		field.Ref("site", &p.Site).Required().Once(),
		field.Text("domain", &p.Domain).Required().Is(field.Domain).Once(),
		field.Text("upstream", &p.Upstream).Required(),
		field.Flag("is_active", &p.IsActive).Default(true),
	}
}

func (s *Site) led() (string, field.Values) {
	p := Proxy{Domain: s.Domain, Upstream: UpstreamOf(s.IPAddress)}
	return proxies.Name, p.Fields().Only("domain", "upstream").Values()
}

// UpstreamOf is where the web server of a site with this address listens; one
// that is there for all addresses is asked at its own machine.
func UpstreamOf(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		ip = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	const http = 80
	return netip.AddrPortFrom(ip, http).String()
}

// The steps of a [SiteOrder], in the order in which answers show them.
const (
	SiteStep     = "site"
	DNSStep      = "dns"
	MailStep     = "mail"
	FTPStep      = "ftp"
	DatabaseStep = "db"
	ProxyStep    = "proxy"
)

// SiteSteps are all steps of a [SiteOrder].
var SiteSteps = []string{SiteStep, DNSStep, MailStep, FTPStep, DatabaseStep, ProxyStep}

// A SiteOrder asks for a site with what goes with it: all of it, or none.
// Records that exist stay as they are, so that a repeat makes only what is
// missing (docs/hosting.md, "A site with everything").
type SiteOrder struct {
	Owner  *Draft // of a site, of which only the tenant counts
	Domain string
	IP     string
	Public []string        // addresses under which a site with the address * is reached
	Asked  map[string]bool // by step
	Pieces []*Piece        // once they are surveyed
}

// NoPublicAddress refuses a zone in which nothing could lead to its site.
const NoPublicAddress = "The zone needs an address of the site, and this panel does not know which ones \"*\" stands for."

// Addresses are where the names of the site lead to: the address that is asked for or that
// the site has, or the public ones that * stands for.
func (o *SiteOrder) Addresses() []string {
	ip := o.IP
	if site := o.First("site"); ip == "*" && site != nil {
		ip = TextIn(site.Spec, "ip_address")
	}
	if ip == "*" {
		return o.Public
	}
	return []string{ip}
}

// A Piece is one record of a [SiteOrder].
type Piece struct {
	*Draft
	Step     string
	Missing  bool   // it is to be made
	Password string // that was generated; "": none
}

// First returns the first piece of a kind; nil: there is none.
func (o *SiteOrder) First(kind string) *Piece {
	for _, one := range o.Pieces {
		if one.Kind.Name == kind {
			return one
		}
	}
	return nil
}

// Of returns the pieces of a step.
func (o *SiteOrder) Of(step string) (pieces []*Piece) {
	for _, one := range o.Pieces {
		if one.Step == step {
			pieces = append(pieces, one)
		}
	}
	return pieces
}

// Site is the number of the site, which is the first piece.
func (o *SiteOrder) Site() int64 { return o.Pieces[0].ID }
