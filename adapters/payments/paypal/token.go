package paypal

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"hostpanel/domain"
)

// A purse holds the token that lets calls in. One is fetched at a time, by the
// caller that needs it first.
type purse struct {
	http   *http.Client
	config clientcredentials.Config
	turn   chan struct{}
	token  *oauth2.Token
}

func newPurse(client *http.Client, config clientcredentials.Config) *purse {
	config.AuthStyle = oauth2.AuthStyleInHeader
	return &purse{http: client, config: config, turn: make(chan struct{}, 1)}
}

// take returns a token that is good for a while, and fetches one if need be.
// Nothing that failed here has done anything at PayPal.
func (p *purse) take(ctx context.Context) (*oauth2.Token, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, domain.Fail(domain.Transient, "no_token", fmt.Errorf("wait for a token: %w", ctx.Err()))
	}
	if p.token.Valid() {
		return p.token, nil
	}
	token, err := p.config.Token(context.WithValue(ctx, oauth2.HTTPClient, p.http))
	if err != nil {
		return nil, noToken(err)
	}
	p.token = token
	return token, nil
}

// drop forgets a token that was refused, unless another has taken its place.
func (p *purse) drop(refused *oauth2.Token) {
	p.turn <- struct{}{} // held for one call at most, which is bounded in time
	defer func() { <-p.turn }()
	if p.token == refused {
		p.token = nil
	}
}

// noToken keeps nothing of the answer, which may quote what was sent.
func noToken(err error) error {
	var answer *oauth2.RetrieveError
	if !errors.As(err, &answer) || answer.Response == nil {
		return domain.Fail(domain.Transient, "no_token", fmt.Errorf("fetch a token: %w", withoutBody(err)))
	}
	status := answer.Response.StatusCode
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
		return domain.Fail(domain.Permanent, "credentials_refused", fmt.Errorf("fetch a token: status %d", status))
	}
	return &domain.Failure{
		Class: domain.Transient, Code: "no_token", RetryAfter: retryAfter(answer.Response.Header),
		Err: fmt.Errorf("fetch a token: status %d", status),
	}
}

// withoutBody keeps an error of the network, and no text that PayPal sent.
func withoutBody(err error) error {
	var answer *oauth2.RetrieveError
	if errors.As(err, &answer) {
		return errors.New("the answer is no token")
	}
	return err
}
