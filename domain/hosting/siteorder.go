package hosting

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
