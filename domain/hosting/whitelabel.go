package hosting

import (
	"slices"
	"strings"

	"hostpanel/domain/field"
)

var whiteLabels = Kind{
	Name: "whitelabel", Class: "WhiteLabelConfig", Label: "white label config", Collection: "whitelabel", Backend: Local,
	Nouns:   map[string]string{"en": "look", "es": "aspecto"},
	Plurals: map[string]string{"en": "Look of the panel", "es": "Aspecto del panel"},
	Shown: words("id tenant brand_name logo_url favicon_url primary_color secondary_color sidebar_bg_color sidebar_text_color custom_css " +
		"footer_text footer_url email_from_name email_from_address custom_panel_domain is_active created_at updated_at"),
	Unique: []string{"custom_panel_domain"}, Sets: [][]string{{"tenant"}},
	Personal: []string{"email_from_name", "email_from_address"},
	Filters:  []string{"tenant"}, Search: []string{"brand_name"},
	Verbs: All, Writers: Admin, New: spec[WhiteLabel],
}

// A WhiteLabel is how a tenant's panel and mails look. A tenant has one.
type WhiteLabel struct {
	BrandName                     string
	LogoURL, FaviconURL           string
	PrimaryColor, SecondaryColor  string
	SidebarBGColor, SidebarColor  string
	CustomCSS                     string // as sent
	FooterText, FooterURL         string
	EmailFromName, EmailFromEmail string
	SenderRecord                  string // what proves the domain of that address, as a TXT record of the domain
	SenderDomain                  string // where the record has been seen; empty: nowhere
	CustomPanelDomain             string
	IsActive                      bool
}

// Fields are the configuration. The tenant, which it belongs to, is none of
// them.
func (w *WhiteLabel) Fields() field.Set {
	return field.Set{
		field.Text("brand_name", &w.BrandName).Required().Max(100).Is(field.Plain),
		field.Text("logo_url", &w.LogoURL).Max(500).Is(field.HTTPSURL).Default(""),
		field.Text("favicon_url", &w.FaviconURL).Max(500).Is(field.HTTPSURL).Default(""),
		field.Text("primary_color", &w.PrimaryColor).Is(field.Color).Default("#4F46E5"),
		field.Text("secondary_color", &w.SecondaryColor).Is(field.Color).Default("#10B981"),
		field.Text("sidebar_bg_color", &w.SidebarBGColor).Is(field.Color).Default("#1F2937"),
		field.Text("sidebar_text_color", &w.SidebarColor).Is(field.Color).Default("#F9FAFB"),
		field.Text("custom_css", &w.CustomCSS).Verbatim().Lines().Max(100 << 10).Default(""),
		field.Text("footer_text", &w.FooterText).Lines().Max(500).Default(""),
		field.Text("footer_url", &w.FooterURL).Is(field.HTTPSURL).Default(""),
		field.Text("email_from_name", &w.EmailFromName).Max(100).Is(field.Plain).Default(""),
		field.Text("email_from_address", &w.EmailFromEmail).Is(field.Email).Default(""),
		field.Text("sender_record", &w.SenderRecord).ReadOnly(),
		field.Text("sender_domain", &w.SenderDomain).ReadOnly(),
		field.Text("custom_panel_domain", &w.CustomPanelDomain).Is(field.Domain).Default(""),
		field.Flag("is_active", &w.IsActive).Default(true),
	}
}

// AddressDomain is the domain of the address that mails are to come from.
func (w *WhiteLabel) AddressDomain() string {
	_, host, _ := strings.Cut(w.EmailFromEmail, "@")
	return host
}

// IsProven reports whether the record has been seen at the domain of the address.
func (w *WhiteLabel) IsProven() bool {
	return w.EmailFromEmail != "" && w.SenderDomain == w.AddressDomain()
}

// SetSenderRecord gives a draft of a brand with an address the record that proves its
// domain, once. The token makes it one that no other tenant has.
func SetSenderRecord(d *Draft, token func() string) {
	if w, is := d.Spec.(*WhiteLabel); is && w.EmailFromEmail != "" && w.SenderRecord == "" {
		w.SenderRecord = "hostpanel-verify=" + token()
	}
}

func (w *WhiteLabel) check(p Place, wrong *field.Errors) {
	own := func(host string) bool {
		host = strings.TrimSuffix(host, ".")
		return w.CustomPanelDomain == host || strings.HasSuffix(w.CustomPanelDomain, "."+host)
	}
	if w.CustomPanelDomain != "" && !wrong.Has("custom_panel_domain") && slices.ContainsFunc(p.Hosts, own) {
		wrong.Add("custom_panel_domain", "This domain cannot be used.")
	}
	if p.StyleSheet != nil && p.Sent.Has("custom_css") && !wrong.Has("custom_css") {
		for _, problem := range p.StyleSheet(w.CustomCSS) {
			wrong.Add("custom_css", problem)
		}
	}
}
