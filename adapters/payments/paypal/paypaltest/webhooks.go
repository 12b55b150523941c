package paypaltest

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"slices"
	"time"
)

// A Webhook is one piece of news as PayPal would send it.
type Webhook struct {
	Type   string
	Raw    []byte
	Header http.Header
}

// tell writes news down, signed, for the one that delivers them.
func (p *PayPal) tell(kind string, resource any) {
	if p.lost {
		return
	}
	raw, err := json.Marshal(object{
		"id": p.id("WH-"), "event_version": "1.0", "create_time": stamp(p.now()), "event_type": kind,
		"summary": "News of PayPal's", "resource": resource,
	})
	if err != nil {
		panic(fmt.Sprintf("paypaltest: news that are no JSON: %v", err))
	}
	p.outbox = append(p.outbox, Webhook{kind, raw, Sign(raw, Transmission{ID: p.id("TR-")})})
}

func (p *PayPal) tellCapture(o *Order, i int) {
	c := o.Captures[i]
	kind := map[string]string{"DECLINED": "DENIED"}[c.Status]
	if kind == "" {
		kind = c.Status
	}
	p.tell("PAYMENT.CAPTURE."+kind, p.shownCapture(o, c))
}

// Tell makes up news of any type, signed.
func (p *PayPal) Tell(kind string, resource any) Webhook {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tell(kind, resource)
	return p.outbox[len(p.outbox)-1]
}

// Lose makes news from now on get lost, or not.
func (p *PayPal) Lose(lose bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = lose
}

// Take empties the outbox, oldest news first. A sender may send them twice, in
// another order, or not at all.
func (p *PayPal) Take() []Webhook {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.outbox
	p.outbox = nil
	return taken
}

// Again is the same news in a new transmission, as PayPal sends them when they
// were not taken.
func (p *PayPal) Again(w Webhook) Webhook {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Webhook{w.Type, w.Raw, Sign(w.Raw, Transmission{ID: p.id("TR-")})}
}

// Send delivers news once and returns the status of the answer.
func (w Webhook) Send(ctx context.Context, client *http.Client, url string) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(w.Raw))
	if err != nil {
		return 0, fmt.Errorf("deliver a webhook: %w", err)
	}
	r.Header = w.Header.Clone()
	a, err := client.Do(r)
	if err != nil {
		return 0, fmt.Errorf("deliver a webhook: %w", err)
	}
	return a.StatusCode, a.Body.Close()
}

// Deliver sends all news to an address from now on, each until it is taken.
func (p *PayPal) Deliver(url string) {
	p.senders.Go(func() {
		client, open := &http.Client{Timeout: 10 * time.Second}, []Webhook(nil)
		for p.alive.Err() == nil {
			open = append(open, p.Take()...)
			open = slices.DeleteFunc(open, func(w Webhook) bool {
				status, err := w.Send(p.alive, client, url)
				return err == nil && status == http.StatusOK
			})
			p.rest(p.alive, 20*time.Millisecond)
		}
	})
}

// A Transmission is what the headers of a webhook say. Fields that are empty
// are as PayPal would have them.
type Transmission struct {
	ID, At, Webhook, Certificate, Algorithm string
	Key                                     *rsa.PrivateKey
}

// Sign returns the headers of a webhook.
func Sign(raw []byte, t Transmission) http.Header {
	t.ID, t.At, t.Webhook = or(t.ID, "TR-1"), or(t.At, "2026-11-21T12:00:00Z"), or(t.Webhook, WebhookID)
	t.Certificate, t.Algorithm = or(t.Certificate, CertificateURL), or(t.Algorithm, "SHA256withRSA")
	if t.Key == nil {
		t.Key = authority().key
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s|%s|%s|%d", t.ID, t.At, t.Webhook, crc32.ChecksumIEEE(raw)))
	signature, err := rsa.SignPKCS1v15(rand.Reader, t.Key, crypto.SHA256, sum[:])
	if err != nil {
		panic(fmt.Sprintf("paypaltest: sign: %v", err))
	}
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("PAYPAL-TRANSMISSION-ID", t.ID)
	h.Set("PAYPAL-TRANSMISSION-TIME", t.At)
	h.Set("PAYPAL-TRANSMISSION-SIG", base64.StdEncoding.EncodeToString(signature))
	h.Set("PAYPAL-CERT-URL", t.Certificate)
	h.Set("PAYPAL-AUTH-ALGO", t.Algorithm)
	return h
}

func or(given, otherwise string) string {
	if given == "" {
		return otherwise
	}
	return given
}
