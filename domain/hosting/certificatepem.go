package hosting

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"slices"
	"strings"
	"time"

	"hostpanel/domain/field"
)

// The checks of a custom certificate, its private key and its chain.

const (
	noKeyOfIt   = "The private key does not match the certificate."
	encrypted   = "The private key is encrypted; it has to be sent without a passphrase."
	noChainOfIt = "The chain does not belong to the certificate."
	outOfOrder  = "The chain is not in order: each certificate has to be signed by the next one."
	tooOld      = "The certificate has expired."
	tooNew      = "The certificate is not valid yet."
	otherNames  = "The certificate does not cover the domain."
	noNames     = "The certificate has no subject alternative names, which browsers look for the domain in."
	shortKey    = "The RSA key of the certificate has less than 2048 bits."
	otherKey    = "The key of the certificate has to be RSA, or of the curve P-256, P-384 or P-521."
)

// checkPEM checks that certificate, key and chain belong together, and that the
// certificate is valid at the time of the request and for its domain.
func (c *Certificate) checkPEM(p Place, wrong *field.Errors) {
	for _, name := range []string{"certificate", "private_key"} {
		if !p.Sent.Has(name) {
			wrong.Add(name, field.Missing)
		}
	}
	leaf, bundled := c.leaf(), parsePEM(c.Chain)
	if !wrong.Has("certificate") && leaf == nil {
		wrong.Add("certificate", field.Username.Message)
	}
	if !wrong.Has("chain") && c.Chain != "" && bundled == nil {
		wrong.Add("chain", field.Username.Message)
	}
	if wrong.Has("certificate") {
		return
	}
	c.checkLeaf(leaf, p, wrong)
	if message := chainFault(append(parsePEM(c.Certificate), bundled...)); message != "" && !wrong.Has("chain") {
		wrong.Add("chain", message)
	}
	if message := c.keyFault(); message != "" && !wrong.Has("private_key") {
		wrong.Add("private_key", message)
	}
}

// keyFault is what is wrong with the private key, or "".
func (c *Certificate) keyFault() string {
	_, err := tls.X509KeyPair([]byte(c.Certificate), []byte(c.PrivateKey))
	switch {
	case err == nil:
		return ""
	case strings.Contains(c.PrivateKey, "ENCRYPTED"): // of PKCS #8 in the first line, of older forms in the second
		return encrypted
	}
	return noKeyOfIt
}

func (c *Certificate) checkLeaf(leaf *x509.Certificate, p Place, wrong *field.Errors) {
	weak := publicKeyFault(leaf)
	switch {
	case weak != "":
		wrong.Add("certificate", weak)
	case p.At.After(leaf.NotAfter):
		wrong.Add("certificate", tooOld)
	case p.At.Before(leaf.NotBefore):
		wrong.Add("certificate", tooNew)
	case len(leaf.DNSNames) == 0 && len(leaf.IPAddresses) == 0:
		wrong.Add("certificate", noNames)
	case c.Domain != "" && !wrong.Has("domain") && leaf.VerifyHostname(c.Domain) != nil:
		wrong.Add("certificate", otherNames)
	}
}

// leaf is the certificate itself, without what stands behind it; nil: there is
// none.
func (c *Certificate) leaf() *x509.Certificate {
	if all := parsePEM(c.Certificate); len(all) > 0 {
		return all[0]
	}
	return nil
}

// publicKeyFault is why browsers do not trust the key of a certificate, or "".
func publicKeyFault(leaf *x509.Certificate) string {
	switch key := leaf.PublicKey.(type) {
	case *rsa.PublicKey:
		if key.N.BitLen() < 2048 {
			return shortKey
		}
	case *ecdsa.PublicKey:
		if key.Curve == elliptic.P224() {
			return otherKey
		}
	default:
		return otherKey
	}
	return ""
}

// chainFault is why it is not so that each certificate is signed by the next one, or "".
func chainFault(all []*x509.Certificate) string {
	for n := 1; n < len(all); n++ {
		this := all[n-1]
		related := func(other *x509.Certificate) bool {
			return other != this && (this.CheckSignatureFrom(other) == nil || other.CheckSignatureFrom(this) == nil)
		}
		switch {
		case this.CheckSignatureFrom(all[n]) == nil:
		case slices.ContainsFunc(all, related):
			return outOfOrder
		default:
			return noChainOfIt
		}
	}
	return ""
}

// parsePEM reads a text that is certificates and nothing else; nil: it is not.
func parsePEM(s string) (all []*x509.Certificate) {
	for rest := []byte(s); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			if strings.TrimSpace(string(rest)) != "" {
				return nil
			}
			return all
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil || block.Type != "CERTIFICATE" {
			return nil
		}
		all = append(all, one)
	}
}

// endOf is until when a certificate is valid; nil: there is none.
func endOf(leaf *x509.Certificate) *time.Time {
	if leaf == nil {
		return nil
	}
	ends := leaf.NotAfter.UTC()
	return &ends
}
