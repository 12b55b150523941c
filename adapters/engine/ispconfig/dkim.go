package ispconfig

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"

	"hostpanel/domain/field"
)

// A mail domain that signs needs a key pair, which the engine's own panel makes
// in the browser: whoever comes through the remote API brings it along. It is
// made once, when the domain begins to sign, and kept by the engine alone.

const keyBits = 2048 // what fits into DNS and is taken by everybody

// A signingKey is a new pair, both halves as PEM.
type signingKey struct{ private, public string }

func newSigningKey() (*signingKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		return nil, fmt.Errorf("make a key to sign mail with: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return nil, fmt.Errorf("write the key to sign mail with: %w", err)
	}
	return &signingKey{
		private: string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
		public:  string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})),
	}, nil
}

// signingReady makes a key for a domain that shall sign and has none.
func signingReady(ctx context.Context, e *Engine, w *wish) error {
	if !w.flag("dkim_enabled") {
		return nil
	}
	found, err := findMailDomain(ctx, e, w.Name)
	if err != nil || len(found) == 1 && found[0]["dkim_public"] != "" {
		return err
	}
	w.key, err = newSigningKey()
	return err
}

// signingRemarks tell what the domain has to publish, as DNS has it.
func signingRemarks(have row, observed field.Values) {
	published := ""
	if block, _ := pem.Decode([]byte(have["dkim_public"])); block != nil && have.on("dkim") {
		published = "v=DKIM1; k=rsa; p=" + base64.StdEncoding.EncodeToString(block.Bytes)
	}
	put(observed, "dkim_public", published)
}
