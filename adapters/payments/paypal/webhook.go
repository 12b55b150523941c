package paypal

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash/crc32"
	"net/textproto"
	"strings"
	"time"

	"hostpanel/adapters/payments"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

// The headers of a webhook, and the only algorithm that we know.
const (
	HeaderID          = "Paypal-Transmission-Id"
	HeaderTime        = "Paypal-Transmission-Time"
	HeaderSignature   = "Paypal-Transmission-Sig"
	HeaderCertificate = "Paypal-Cert-Url"
	HeaderAlgorithm   = "Paypal-Auth-Algo"
	Algorithm         = "SHA256withRSA"
)

var errNotNow = &domain.Error{Code: domain.Unavailable, Message: "The signature cannot be checked now.", Reason: "certificate_unavailable"}

// A transmission is one delivery of a webhook, as its headers tell.
type transmission struct {
	id, at, certificate string
	signature           []byte
}

// Verify checks a webhook's signature and reads its references. The signature
// covers no more of the body than its CRC-32, and a body with the same one is
// easily made: what comes back is a hint and nothing else (rule P-6).
func (p *Provider) Verify(raw []byte, header map[string][]string, now time.Time) (order.News, error) {
	if len(p.WebhookIDs) == 0 {
		return order.News{}, payments.NotConfigured
	}
	t, ok := transmissionOf(header)
	if !ok || !p.certs.acceptable(t.certificate) {
		return order.News{}, payments.InvalidSignature
	}
	ctx, cancel := context.WithTimeout(context.Background(), fetchLimit)
	defer cancel()
	key, err := p.certs.key(ctx, t.certificate, now)
	if err != nil {
		return order.News{}, err
	}
	for _, webhook := range p.WebhookIDs {
		if t.signed(raw, webhook, key) {
			return p.news(raw, t.id, "webhook "+webhook)
		}
	}
	return order.News{}, payments.InvalidSignature
}

// signed tells whether the transmission was signed for one of our webhooks.
func (t transmission) signed(raw []byte, webhook string, key *rsa.PublicKey) bool {
	sum := sha256.Sum256(Message(t.id, t.at, webhook, raw))
	return rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], t.signature) == nil
}

// Message is what PayPal signs of a webhook (rule P-4).
func Message(id, at, webhook string, raw []byte) []byte {
	return fmt.Appendf(nil, "%s|%s|%s|%d", id, at, webhook, crc32.ChecksumIEEE(raw))
}

// transmissionOf wants all five headers, each once.
func transmissionOf(header map[string][]string) (t transmission, ok bool) {
	values := map[string]string{}
	for _, name := range []string{HeaderID, HeaderTime, HeaderSignature, HeaderCertificate, HeaderAlgorithm} {
		given := textproto.MIMEHeader(header).Values(name)
		if len(given) != 1 || given[0] == "" || len(given[0]) > 1024 {
			return t, false
		}
		values[name] = given[0]
	}
	signature, err := base64.StdEncoding.DecodeString(values[HeaderSignature])
	t = transmission{id: values[HeaderID], at: values[HeaderTime], certificate: values[HeaderCertificate], signature: signature}
	return t, err == nil && values[HeaderAlgorithm] == Algorithm && ids.MatchString(t.id) && !strings.Contains(t.at, "|")
}
