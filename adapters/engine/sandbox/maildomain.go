package sandbox

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"

	"hostpanel/domain/hosting"
)

func init() { rules["mail_domain"] = rule{check: mailDomain, adds: signing} }

func mailDomain(o hosting.EngineObject) error {
	return need(isDomain(o.Name), "not a domain name in lower case and punycode")
}

// signing shows a mail domain's key: the panel's, or one of its own where the panel
// has none. A key that signs nothing is not kept.
func signing(o, _ hosting.EngineObject) (observed, error) {
	known := text(hosting.EngineObject{Values: o.Observed}, "dkim_public")
	switch {
	case !flag(o, "dkim_enabled"):
		return observed{"dkim_public": ""}, nil
	case text(o, "dkim_public") != "":
		return observed{"dkim_public": text(o, "dkim_public")}, nil
	case known != "":
		return observed{"dkim_public": known}, nil
	}
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return observed{"dkim_public": "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(public)}, nil
}
