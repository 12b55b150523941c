package hosting

import (
	"maps"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A provision asks for a site with what goes with it (docs/hosting.md, "A site
// with everything").
type provision struct {
	hosting.SiteOrder
	owner  *resource        // of no kind's fields but the tenant: whose all of it is
	asked  map[string]*bool // by step
	pieces []*piece         // as they are shown
}

// A piece is one of the records.
type piece struct {
	*resource
	step     string
	password string // that was generated; "": none
}

func newProvision() field.Record {
	kind, _ := hosting.KindNamed("site")
	p := &provision{owner: &resource{Draft: hosting.NewDraft(kind)}, asked: map[string]*bool{}}
	p.Owner = p.owner.Draft
	for _, step := range hosting.SiteSteps {
		p.asked[step] = new(bool)
	}
	*p.asked[hosting.SiteStep] = true
	return p
}

// about says what the steps make that a request may ask for.
var about = map[string]string{
	hosting.DNSStep:      "A zone, with names for the site and for its mail.",
	hosting.MailStep:     "A mail domain.",
	hosting.FTPStep:      "An FTP account, with a password that is made up.",
	hosting.DatabaseStep: "A database, with a password that is made up.",
	hosting.ProxyStep:    "A proxy that takes the calls for the domain and passes them on to the web server.",
}

// Fields are the request.
func (p *provision) Fields() field.Set {
	set := append(field.Set{}, p.owner.Fields().Only("tenant")...)
	set = append(set, field.Text("domain", &p.Domain).Required().Is(field.Domain))
	for _, step := range hosting.SiteSteps[1:] {
		set = append(set, field.Flag("create_"+step, p.asked[step]).Default(false).Doc(about[step]))
	}
	return append(
		set,
		field.Text("ip_address", &p.IP).Default("*").Emptied().Is(field.IPOrAny).Doc(
			"Of the site, and of its names in the zone; * stands for the public addresses of the installation.",
		),
	)
}

// order is what the request asks for.
func (p *provision) order() *hosting.SiteOrder {
	p.Asked = map[string]bool{}
	for step, asked := range maps.All(p.asked) {
		p.Asked[step] = *asked
	}
	return &p.SiteOrder
}

// first is the first piece of a kind; nil: there is none.
func (p *provision) first(kind string) *piece {
	for _, one := range p.pieces {
		if one.Kind.Name == kind {
			return one
		}
	}
	return nil
}
