package route

import (
	"net/http"
	"strings"
)

const apiPolicy = "default-src 'none'; frame-ancestors 'none'"

// secure sets the security headers of API answers.
func (x *exchange) secure(h http.Header) {
	h.Set("Content-Security-Policy", apiPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	if strings.HasPrefix(x.t.options.PublicURL(), "https://") {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// securePage sets those of pages: nothing but our own files, no inline code.
func (*exchange) securePage(h http.Header, d *Document) {
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'"+
		"; img-src "+sources("'self' data:", d.Images)+"; font-src 'self'; connect-src 'self'; form-action "+
		sources("'self'", d.FormAction)+"; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=()")
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store")
	}
}

// sources are CSP sources; whatever could end the directive is left out.
func sources(own string, more []string) string {
	for _, source := range more {
		if source != "" && !strings.ContainsAny(source, ";, \t\r\n'") {
			own += " " + source
		}
	}
	return own
}
