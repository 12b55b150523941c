package hosting

import "hostpanel/domain/field"

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
