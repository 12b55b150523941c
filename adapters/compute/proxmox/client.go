package proxmox

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"hostpanel/domain"
)

const (
	callTimeout = 45 * time.Second // a node waits 30 s for another one
	largest     = 64 << 20         // bytes of an answer
)

// A client calls the API with a token. Its errors are failures; none has the token or what
// was sent.
type client struct {
	base, token string
	http        *http.Client
}

// trusted is how the cluster is recognised.
func trusted(s Settings) (*tls.Config, error) {
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if s.CAFile != "" {
		pem, err := os.ReadFile(s.CAFile)
		if err != nil {
			return nil, fmt.Errorf("proxmox: %w", err)
		}
		if t.RootCAs = x509.NewCertPool(); !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("proxmox: no certificate in " + s.CAFile)
		}
	}
	if s.Fingerprint == "" {
		return t, nil
	}
	want, err := hex.DecodeString(strings.ReplaceAll(s.Fingerprint, ":", ""))
	if err != nil || len(want) != sha256.Size {
		return nil, errors.New("proxmox: a fingerprint has 64 hexadecimal digits (SHA-256)")
	}
	t.InsecureSkipVerify = true // the certificate itself is compared instead
	t.VerifyConnection = func(state tls.ConnectionState) error {
		if len(state.PeerCertificates) == 0 || sha256.Sum256(state.PeerCertificates[0].Raw) != [sha256.Size]byte(want) {
			return errors.New("the certificate has another fingerprint")
		}
		return nil
	}
	return t, nil
}

// get reads what stands at a path.
func (c *client) get(ctx context.Context, path string, query url.Values, out any) error {
	return c.call(ctx, http.MethodGet, path, query, out)
}

func (c *client) put(ctx context.Context, path string, form url.Values) error {
	return c.call(ctx, http.MethodPut, path, form, nil)
}

// begin starts a task and returns its name; "": it was done at once.
func (c *client) begin(ctx context.Context, method, path string, form url.Values) (task string, err error) {
	var answer text
	err = c.call(ctx, method, path, form, &answer)
	return string(answer), err
}

// call makes one call. A body may only come with POST and PUT.
func (c *client) call(ctx context.Context, method, path string, form url.Values, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	sent := new(atomic.Bool)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	request, err := c.request(ctx, method, path, form)
	if err != nil {
		return permanent("bad_request", "no request can be made of "+path)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return unanswered(sent.Load(), method+" "+path, err)
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(io.LimitReader(response.Body, largest))
	if err != nil {
		return unanswered(true, method+" "+path, err)
	}
	if response.StatusCode != http.StatusOK {
		return refused(method, path, response, body)
	}
	return decode(method+" "+path, body, out)
}

func (c *client) request(ctx context.Context, method, path string, form url.Values) (*http.Request, error) {
	address, body := c.base+path, io.Reader(nil)
	if method == http.MethodPost || method == http.MethodPut {
		body = strings.NewReader(form.Encode())
	} else if len(form) > 0 {
		address += "?" + form.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", c.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return request, nil
}

func decode(what string, body []byte, out any) error {
	if out == nil {
		return nil
	}
	answer := struct {
		Data any `json:"data"`
	}{out}
	if err := json.Unmarshal(body, &answer); err != nil {
		return domain.Fail(domain.Unknown, "bad_answer", fmt.Errorf("proxmox: %s: %w", what, err))
	}
	return nil
}

// unanswered is the failure of a call without an answer. What was not sent was not done.
// An error of the HTTP client names the address, which can have a ticket: it is left out.
func unanswered(sent bool, what string, err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if sent {
		return domain.Fail(domain.Unknown, "no_answer", fmt.Errorf("proxmox: %s: %w", what, err))
	}
	return domain.Fail(domain.Transient, "unreachable", fmt.Errorf("proxmox: %s: %w", what, err))
}

// A text is a value that Proxmox writes as a string, a number or a boolean.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	switch s := string(raw); {
	case s == "null":
		*t = ""
	case strings.HasPrefix(s, `"`):
		return json.Unmarshal(raw, (*string)(t))
	case s == "true":
		*t = "1"
	case s == "false":
		*t = "0"
	default:
		*t = text(s)
	}
	return nil
}
