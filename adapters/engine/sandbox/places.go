package sandbox

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// What only the engine knows of an object.

// place is a site's directory, which stays whatever its domain becomes.
func place(o, _ hosting.EngineObject) (observed, error) {
	return observed{
		"document_root": fmt.Sprintf("/var/www/clients/client%d/web%d", o.Owner, o.ID),
		"system_user":   fmt.Sprintf("web%d", o.ID),
		"system_group":  fmt.Sprintf("client%d", o.Owner),
	}, nil
}

func home(o, site hosting.EngineObject) (observed, error) {
	return observed{"home_directory": text(hosting.EngineObject{Values: site.Observed}, "document_root")}, nil
}

// signing makes a mail domain's key. What nobody signs with is not kept.
func signing(o, _ hosting.EngineObject) (observed, error) {
	known := text(hosting.EngineObject{Values: o.Observed}, "dkim_public")
	switch {
	case !flag(o, "dkim_enabled"):
		return observed{"dkim_public": ""}, nil
	case known != "":
		return observed{"dkim_public": known}, nil
	}
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return observed{"dkim_public": "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(public)}, nil
}

// remark adds what the engine knows to what it knew.
func (r rule) remark(o, parent hosting.EngineObject) (field.Values, error) {
	known := maps.Clone(o.Observed)
	if known == nil {
		known = field.Values{}
	}
	if r.adds == nil {
		return known, nil
	}
	more, err := r.adds(o, parent)
	for name, value := range more {
		known[name] = quoted(value)
	}
	return known, err
}

// renewable is how long before its end a certificate is issued anew.
const renewable = 30 * 24 * time.Hour

// issued is until when a certificate that is ordered now will be valid.
func (e *Engine) issued(o hosting.EngineObject) time.Time {
	block, _ := pem.Decode([]byte(o.Secrets["certificate"]))
	if text(o, "cert_type") == "custom" && block != nil {
		if brought, err := x509.ParseCertificate(block.Bytes); err == nil {
			return brought.NotAfter
		}
	}
	ends := time.Now().Add(e.issuing + e.validity)
	if former, replaces := field.ParseTime(text(o, "replaces")); replaces && ends.Before(former.Add(time.Second)) {
		ends = former.Add(time.Second) // nobody could tell them apart
	}
	return ends
}

// reordered tells whether a change is the order of another certificate: this
// one is about to end, or is the one that is to be replaced.
func reordered(before, after hosting.EngineObject) bool {
	if after.Kind != certificate {
		return false
	}
	expires, err := time.Parse(time.RFC3339, text(hosting.EngineObject{Values: before.Observed}, "expires_at"))
	former, replaces := field.ParseTime(text(after, "replaces"))
	due := err != nil || text(after, "cert_type") == "acme" && (time.Until(expires) < renewable || replaces && former.Equal(expires))
	return due || len(after.Secrets) > 0 || text(before, "cert_type") != text(after, "cert_type") || text(before, "domain") != text(after, "domain")
}
