package hosting

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"strings"
	"time"

	"hostpanel/domain/field"
)

// The checks of a custom certificate, its private key and its chain.

const (
	noKeyOfIt   = "The private key does not match the certificate."
	noChainOfIt = "The chain does not belong to the certificate."
	tooOld      = "The certificate has expired."
	tooNew      = "The certificate is not valid yet."
	otherNames  = "The certificate does not cover the domain."
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
	if all := append(parsePEM(c.Certificate), bundled...); !wrong.Has("chain") && !chained(all) {
		wrong.Add("chain", noChainOfIt)
	}
	if wrong.Has("private_key") {
		return
	}
	if _, err := tls.X509KeyPair([]byte(c.Certificate), []byte(c.PrivateKey)); err != nil {
		wrong.Add("private_key", noKeyOfIt)
	}
}

func (c *Certificate) checkLeaf(leaf *x509.Certificate, p Place, wrong *field.Errors) {
	switch {
	case p.At.After(leaf.NotAfter):
		wrong.Add("certificate", tooOld)
	case p.At.Before(leaf.NotBefore):
		wrong.Add("certificate", tooNew)
	case c.Domain != "" && !wrong.Has("domain") && !covers(leaf, c.Domain):
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

// covers tells whether a certificate is for a domain. One that has no names but
// the common one, as old tools make them, is for that.
func covers(leaf *x509.Certificate, domain string) bool {
	if len(leaf.DNSNames) == 0 && len(leaf.IPAddresses) == 0 {
		named := *leaf
		named.DNSNames = []string{strings.ToLower(leaf.Subject.CommonName)}
		leaf = &named
	}
	return leaf.VerifyHostname(domain) == nil
}

// chained tells whether each certificate is signed by the next one.
func chained(all []*x509.Certificate) bool {
	for n := 1; n < len(all); n++ {
		if all[n-1].CheckSignatureFrom(all[n]) != nil {
			return false
		}
	}
	return true
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
