package operations

import (
	"cmp"
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"hostpanel/domain/storefront"
	"hostpanel/eventstore/clock"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
	"hostpanel/projections"
)

// A keyCard is a key as the page shows it.
type keyCard struct {
	Key                        projections.APIKey
	State, StateText, ModeText string
	Facts                      []web.Aspect
	Revoke                     *web.Form // nil: it is revoked
}

func (s *apiKeys) showKeys(ctx context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	number := web.PageNumber(c)
	keys, err := s.callers.Scope(c).Orders().APIKeys(ctx, projections.Listing{Offset: (number - 1) * web.PageSize, Limit: web.PageSize})
	if err != nil {
		return nil, err
	}
	cards := make([]keyCard, len(keys.Rows))
	for i, key := range keys.Rows {
		cards[i] = s.keyCard(c, key, back)
	}
	return s.web.Sheet(
		c, back.StatusOf(), "keys", "keys_title",
		web.Paged(c, nil, keys.Count, map[string]any{"Keys": cards, "Create": s.createForm(c, web.KeysPath, back)}),
	)
}

func (s *apiKeys) keyCard(c route.Call, key projections.APIKey, back *web.Returned) keyCard {
	w, state := web.Texts[web.Readers(c)], "active"
	switch {
	case key.RevokedAt != nil:
		state = "revoked"
	case key.ExpiresAt != nil && !clock.Now().Before(*key.ExpiresAt):
		state = "expired"
	}
	card := keyCard{Key: key, State: state, StateText: w["key_"+state], ModeText: w["key_mode_"+string(key.Mode)], Facts: keyFacts(w, key)}
	if key.RevokedAt == nil {
		f := s.web.Fill(c, web.Form{Name: "revoke", Of: key.ID, Action: web.KeysPath, IsGrave: true}, back)
		card.Revoke = &f
	}
	return card
}

func keyFacts(w web.Words, key projections.APIKey) []web.Aspect {
	domains := strings.Join(key.AllowedDomains, ", ")
	if domains == "" {
		domains = w["key_everywhere"]
	}
	facts := []web.Aspect{
		{Name: w["key_domains"], Text: domains},
		{Name: w["key_rate"], Text: strconv.FormatInt(key.RateLimit, 10)},
		w.Moment(w["key_created"], &key.CreatedAt, ""),
		w.Moment(w["key_used"], key.LastUsedAt, w["key_never"]),
	}
	if key.ExpiresAt != nil {
		facts = append(facts, w.Moment(w["key_expires"], key.ExpiresAt, ""))
	}
	if key.RevokedAt != nil {
		facts = append(facts, w.Moment(w["key_revoked_at"], key.RevokedAt, ""))
	}
	return facts
}

// createForm asks for the password too, unless it was given a moment ago. Its
// number makes one key of it, however often it is sent.
func (s *apiKeys) createForm(c route.Call, action string, back *web.Returned) web.Form {
	w := web.Texts[web.Readers(c)]
	f := web.Form{Name: "create", Action: action, Inputs: []web.Input{
		{Name: "name", Required: true, Autocomplete: "off", Long: 100},
		{Name: "mode", Type: "select", Value: string(s.usualMode()), Options: []web.Option{
			{Value: string(storefront.Test), Text: w["key_mode_test"]}, {Value: string(storefront.Live), Text: w["key_mode_live"]},
		}},
		{Name: "allowed_domains", Type: "lines"},
		{Name: "rate_limit_per_minute", Type: "number", Value: "60", Required: true, Min: 1, Max: 6000},
		{Name: "expires_at", Type: "datetime-local"},
	}}
	f.Inputs = append(f.Inputs, s.web.PasswordInputs(c)...)
	f.Inputs = append(f.Inputs, web.NumberInput())
	return s.web.Fill(c, f, back)
}

// handOutKey makes a key and shows it, this once.
func (s *apiKeys) handOutKey(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	return s.createKey(ctx, c, sent, func(key, name string) (*route.Document, error) {
		return s.web.Sheet(c, http.StatusOK, "created", "created_title", map[string]any{"Text": key, "Name": name})
	})
}

// createKey makes the key that a form asks for, and shows it on a page.
func (s *apiKeys) createKey(
	ctx context.Context, c route.Call, sent url.Values, show func(key, name string) (*route.Document, error),
) (*route.Document, error) {
	var wanted keyForm
	if err := web.DecodeForm(&wanted, sent); err != nil {
		return nil, err
	}
	if err := s.web.AskUnlessFresh(ctx, c, sent); err != nil {
		return nil, err
	}
	var key string
	isRepeat, _, err := caller.FormOnce(ctx, s.callers, c, sent, func(c route.Call) (err error) {
		key, err = s.issue(ctx, c, &wanted)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case isRepeat:
		return s.createdBefore(c)
	}
	d, err := show(key, wanted.Name)
	if err == nil {
		s.web.RenewUnlessFresh(ctx, c, d)
	}
	return d, err
}

// issue makes a key for the caller.
func (s *apiKeys) issue(ctx context.Context, c route.Call, wanted *keyForm) (string, error) {
	who := caller.VisitOf(c).Who
	mode := cmp.Or(storefront.Mode(wanted.Mode), s.usualMode())
	text := storefront.DrawKey(mode, rand.Read)
	key, _ := storefront.ParseKey(text)
	_, err := s.commands.Execute(ctx, c.Cause(), storefront.IssueKey{
		ID: key.ID, Mode: mode, Hash: storefront.HashKey(text), Spec: wanted.APIKey.Fields().Values(),
		CreatedBy: who.ID, Owner: who.ID, At: s.callers.Now(),
	})
	return text, err
}

// createdBefore answers a form that was sent twice. The key cannot be shown
// again.
func (s *apiKeys) createdBefore(c route.Call) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	return s.web.Sheet(c, http.StatusConflict, "notice", "once_title", map[string]any{
		"Text": w["once_about"], "About": "", "Path": web.KeysPath, "Way": w["created_next"],
	})
}

// withdrawKey ends a key at once.
func (s *apiKeys) withdrawKey(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	id := sent.Get("of")
	if _, err := s.commands.Execute(ctx, c.Cause(), storefront.RevokeKey{ID: id, At: s.callers.Now()}); err != nil {
		return nil, err
	}
	s.callers.Keys.Forget(id)
	return s.web.Done(web.KeysPath, "revoked"), nil
}
