package paypal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"time"

	"golang.org/x/oauth2"

	"hostpanel/domain"
	"hostpanel/eventstore/clock"
)

const (
	callLimit   = 15 * time.Second // of one call, its token included (rule P-1)
	answerLimit = 1 << 20          // bytes
)

// A question is one call of PayPal's API.
type question struct {
	what   string // in logs and errors
	method string
	path   string
	key    string // of a write: the same key answers with how the first one stands now; "": PayPal takes none
	body   any    // nil: none
}

func (q question) writes() bool { return q.method != http.MethodGet }

// ask makes one call. A token that is refused is replaced once. The error is a
// *refusal where PayPal said no in its own words, else a *domain.Failure.
func (p *Provider) ask(ctx context.Context, q question, into any) (err error) {
	begun := clock.Now()
	defer func() {
		p.Log.DebugContext(ctx, "paypal call", "call", q.what, "took", clock.Since(begun), "outcome", outcome(err))
	}()
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	for again := false; ; again = true {
		token, err := p.purse.take(ctx)
		if err != nil {
			return err
		}
		err = p.send(ctx, q, token, into)
		no, refused := errors.AsType[*refusal](err)
		if !refused || no.status != http.StatusUnauthorized || again {
			return err
		}
		p.purse.drop(token)
	}
}

func (p *Provider) send(ctx context.Context, q question, token *oauth2.Token, into any) error {
	request, connected, err := p.request(ctx, q, token)
	if err != nil {
		return domain.Fail(domain.Permanent, "bad_call", fmt.Errorf("%s: %w", q.what, err))
	}
	response, err := p.http.Do(request)
	if err != nil && !*connected {
		return domain.Fail(domain.Transient, "unreachable", fmt.Errorf("%s: %w", q.what, err))
	}
	if err != nil {
		return unclear(q, err)
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, answerLimit+1))
	switch {
	case response.StatusCode >= 300:
		return refusalOf(response, raw)
	case err != nil:
		return unclear(q, err)
	case len(raw) > answerLimit:
		return unclear(q, errors.New("the answer is too long"))
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return unclear(q, errors.New("the answer has an unexpected shape")) // its text may be personal
	}
	return nil
}

// request makes the HTTP request, and tells later whether it may have left us.
func (p *Provider) request(ctx context.Context, q question, token *oauth2.Token) (r *http.Request, connected *bool, err error) {
	var body io.Reader
	if q.body != nil {
		text, err := json.Marshal(q.body)
		if err != nil {
			return nil, nil, fmt.Errorf("encode: %w", err)
		}
		body = bytes.NewReader(text)
	}
	connected = new(bool)
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { *connected = true }}
	r, err = http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), q.method, p.URL+q.path, body)
	if err != nil {
		return nil, nil, fmt.Errorf("make the request: %w", err)
	}
	token.SetAuthHeader(r)
	r.Header.Set("Accept", "application/json")
	if q.writes() {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Prefer", "return=representation")
	}
	if q.key != "" {
		r.Header.Set("PayPal-Request-Id", q.key)
	}
	return r, connected, nil
}

// unclear is the failure of a call that may have been carried out; one that
// only reads has done nothing.
func unclear(q question, err error) error {
	class := domain.Unknown
	if !q.writes() {
		class = domain.Transient
	}
	return domain.Fail(class, "no_answer", fmt.Errorf("%s: %w", q.what, err))
}

func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	if no, ok := errors.AsType[*refusal](err); ok {
		return no.Error()
	}
	if f, ok := errors.AsType[*domain.Failure](err); ok {
		return f.Code
	}
	return "failed"
}
