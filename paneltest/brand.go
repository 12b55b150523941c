package paneltest

import (
	"testing"

	"hostpanel/domain/hosting"
)

// Branded gives tenant 1 a look of its own.
func (s *Shop) Branded(t testing.TB, look hosting.WhiteLabel) *Shop {
	t.Helper()
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "whitelabel", ID: 1}, Tenant: 1, Spec: look.Fields().Values()})
	return s
}

// Bakery is a look with all that there is.
func Bakery() hosting.WhiteLabel {
	look := *ALook
	look.BrandName, look.LogoURL, look.FaviconURL = `Bread "&" Co`, "https://cdn.bread.example/logo.png?a=1&b=2", "https://icons.example/bread.ico"
	look.FooterText, look.FooterURL, look.CustomCSS = "Baked daily.\nSince <1901>", "https://bread.example/", ".wl-scope h1{letter-spacing:7px}"
	return look
}
