package paypal

import (
	"context"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"hostpanel/adapters/payments"
)

// The bounds of rule P-5. A sender of junk decides which certificate it names,
// so what that can cost is little.
const (
	fetchLimit       = 5 * time.Second
	certificateLimit = 64 << 10 // bytes
	kept             = 16       // certificates
	fetches          = 6        // begun in a minute
)

// certificates are those that sign PayPal's webhooks, by the address that a
// webhook names.
type certificates struct {
	host   string // the only one that is asked
	roots  *x509.CertPool
	http   *http.Client
	flight singleflight.Group

	mu    sync.Mutex
	keys  []certified // oldest first
	begun []time.Time // fetches of the last minute
}

// certified is the key of a certificate that has passed every check.
type certified struct {
	address string
	key     *rsa.PublicKey
	from    time.Time
	until   time.Time
}

func newCertificates(host string, roots *x509.CertPool, dial func(context.Context, string, string) (net.Conn, error)) *certificates {
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: dial, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, MaxResponseHeaderBytes: certificateLimit,
	}
	if dial != nil {
		transport.Proxy = nil
	}
	return &certificates{host: host, roots: roots, http: &http.Client{Transport: transport, Timeout: fetchLimit, CheckRedirect: stay}}
}

var certificatePath = regexp.MustCompile(`^/v1/notifications/certs/[A-Za-z0-9_-]{1,128}$`)

// acceptable tells whether an address may be asked for a certificate: PayPal's
// own host and path, written plainly.
func (c *certificates) acceptable(address string) bool {
	u, err := url.Parse(address)
	return err == nil && certificatePath.MatchString(u.Path) && address == "https://"+c.host+u.Path
}

// key is the public key at an address, which must be acceptable. One that is
// no good is refused with code Invalid, one that cannot be had now with
// Unavailable.
func (c *certificates) key(ctx context.Context, address string, now time.Time) (*rsa.PublicKey, error) {
	if key := c.known(address, now); key != nil {
		return key, nil
	}
	result := c.flight.DoChan(address, func() (any, error) {
		if key := c.known(address, now); key != nil { // another caller was faster
			return key, nil
		}
		return c.fetch(address, now)
	})
	select {
	case r := <-result:
		key, _ := r.Val.(*rsa.PublicKey)
		return key, r.Err
	case <-ctx.Done():
		return nil, errNotNow
	}
}

func (c *certificates) known(address string, now time.Time) *rsa.PublicKey {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys = slices.DeleteFunc(c.keys, func(k certified) bool { return now.After(k.until) })
	for _, k := range c.keys {
		if k.address == address && !now.Before(k.from) {
			return k.key
		}
	}
	return nil
}

func (c *certificates) fetch(address string, now time.Time) (*rsa.PublicKey, error) {
	if !c.mayFetch(now) {
		return nil, errNotNow
	}
	text, err := c.download(address)
	if err != nil {
		return nil, err
	}
	found, err := c.check(text, now)
	if err != nil {
		return nil, payments.InvalidSignature
	}
	found.address = address
	c.keep(found)
	return found.key, nil
}

// mayFetch counts the fetches of a minute.
func (c *certificates) mayFetch(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun = slices.DeleteFunc(c.begun, func(at time.Time) bool { return now.Sub(at).Abs() >= time.Minute })
	if len(c.begun) >= fetches {
		return false
	}
	c.begun = append(c.begun, now)
	return true
}

func (c *certificates) keep(found certified) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys = append(c.keys, found)
	c.keys = c.keys[max(0, len(c.keys)-kept):]
}

// download asks PayPal's own host. A missing answer is no failure of the
// webhook; an answer that is no certificate is the sender's, who named it.
func (c *certificates) download(address string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), fetchLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, payments.InvalidSignature
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, errNotNow
	}
	defer func() { _ = response.Body.Close() }()
	status := response.StatusCode
	if status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout {
		return nil, errNotNow
	}
	if status != http.StatusOK {
		return nil, payments.InvalidSignature
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, certificateLimit+1))
	if len(text) > certificateLimit {
		return nil, payments.InvalidSignature
	}
	if err != nil {
		return nil, errNotNow
	}
	return text, nil
}

// signers is how the certificates are named that PayPal signs webhooks with.
var signers = regexp.MustCompile(`^messageverificationcerts[a-z0-9.-]*\.paypal\.com$`)

// check follows the chain to a root that we trust, and looks at the name, the
// key and the time.
func (c *certificates) check(text []byte, now time.Time) (certified, error) {
	leaf, others, err := chain(text)
	if err != nil {
		return certified{}, err
	}
	_, err = leaf.Verify(x509.VerifyOptions{
		Roots: c.roots, Intermediates: others, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	if err != nil {
		return certified{}, err
	}
	if !slices.ContainsFunc(names(leaf), signers.MatchString) {
		return certified{}, errors.New("the certificate is not one of PayPal")
	}
	key, ok := leaf.PublicKey.(*rsa.PublicKey)
	if !ok {
		return certified{}, errors.New("the key is not an RSA key")
	}
	return certified{key: key, from: leaf.NotBefore, until: leaf.NotAfter}, nil
}

// names are whom a certificate is for.
func names(leaf *x509.Certificate) []string {
	if len(leaf.DNSNames) > 0 {
		return leaf.DNSNames
	}
	return []string{leaf.Subject.CommonName}
}

// chain reads PEM: the certificate first, then those that vouch for it.
func chain(text []byte) (leaf *x509.Certificate, others *x509.CertPool, err error) {
	others = x509.NewCertPool()
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, nil, err
		}
		if leaf == nil {
			leaf = c
		} else {
			others.AddCert(c)
		}
	}
	if leaf == nil {
		return nil, nil, errors.New("no certificate")
	}
	return leaf, others, nil
}
