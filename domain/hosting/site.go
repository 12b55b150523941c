package hosting

import "hostpanel/domain/field"

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
		field.Text("ip_address", &s.IPAddress).Default("*").Is(field.IPOrAny).Doc("An address, or * for all addresses."),
		field.Flag("is_active", &s.IsActive).Default(true),
		field.Flag("ssl_enabled", &s.SSLEnabled).Default(false).Doc("Serve HTTPS once a certificate is issued."),
		field.Text("document_root", &s.DocumentRoot).ReadOnly(),
	}
}

// check keeps HTTPS off where the package has none. What is on already stays.
func (s *Site) check(p Place, wrong *field.Errors) {
	if s.SSLEnabled && p.Limits.NoSSL && p.Sent.Has("ssl_enabled") && string(p.Before["ssl_enabled"]) != "true" {
		wrong.Add("ssl_enabled", limitReached(certificateQuota, 0, 0))
	}
}
