package http

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// desktop is where superusers run the storefront (docs/accounts.md, "Pages").
func (s *Server) desktop() route.Area {
	d := s.keysDesk()
	return route.Area{
		Name: "Storefront pages", Access: s.superuserSession(),
		About: "Where superusers run the storefront.",
		Routes: []route.Route{
			view(storefrontPath, "The keys of the storefront", d.look).As("storefront_page").
				Taking(field.Int("page", new(int64)).Doc("Which page of the keys, from 1 on.")),
			s.press(storefrontPath, "Create or revoke a key", d).As("storefront_form"),
		},
	}
}

func (s *Server) keysDesk() desk {
	return desk{show: s.showKeys, forms: map[string]taker{"create": s.handOutKey, "revoke": s.withdrawKey}}
}

const keysShown = 20 // on a page

// A keyCard is a key as the page shows it.
type keyCard struct {
	Key                        projections.APIKey
	State, StateText, ModeText string
	Facts                      []keyFact
	Revoke                     *form // nil: it is revoked
}

// A keyFact is one thing to know about a key. At is the moment, for programs.
type keyFact struct{ Name, Text, At string }

func (s *Server) showKeys(ctx context.Context, c route.Call, back *returned) (*route.Document, error) {
	number := pageNumber(c)
	keys, err := s.scope(c).APIKeys(ctx, projections.Listing{Offset: (number - 1) * keysShown, Limit: keysShown})
	if err != nil {
		return nil, err
	}
	cards := make([]keyCard, len(keys.Rows))
	for i, key := range keys.Rows {
		cards[i] = s.keyCard(c, key, back)
	}
	newer, older := "", ""
	if number > 1 {
		newer = pagePath(number - 1)
	}
	if number*keysShown < keys.Count {
		older = pagePath(number + 1)
	}
	return s.sheet(c, back.statusOf(), "keys", "keys_title", map[string]any{
		"Keys": cards, "Count": keys.Count, "Newer": newer, "Older": older, "Create": s.createForm(c, back), "Wide": true,
	})
}

// pageNumber is the page of a list that is asked for; the first, if it makes
// no sense.
func pageNumber(c route.Call) int64 {
	const last = 1_000_000
	number, err := strconv.ParseInt(c.Param("page"), 10, 64)
	if err != nil || number < 1 || number > last {
		return 1
	}
	return number
}

func pagePath(number int64) string { return storefrontPath + "?page=" + strconv.FormatInt(number, 10) }

func (s *Server) keyCard(c route.Call, key projections.APIKey, back *returned) keyCard {
	w, state := texts[readers(c)], "active"
	switch {
	case key.RevokedAt != nil:
		state = "revoked"
	case key.ExpiresAt != nil && !s.now().Before(*key.ExpiresAt):
		state = "expired"
	}
	card := keyCard{Key: key, State: state, StateText: w["key_"+state], ModeText: w["key_mode_"+string(key.Mode)], Facts: keyFacts(w, key)}
	if key.RevokedAt == nil {
		f := s.fill(c, form{Name: "revoke", Of: key.ID, Action: storefrontPath, IsGrave: true}, back)
		card.Revoke = &f
	}
	return card
}

func keyFacts(w words, key projections.APIKey) []keyFact {
	domains := strings.Join(key.AllowedDomains, ", ")
	if domains == "" {
		domains = w["key_everywhere"]
	}
	facts := []keyFact{
		{Name: w["key_domains"], Text: domains},
		{Name: w["key_rate"], Text: strconv.FormatInt(key.RateLimit, 10)},
		moment(w["key_created"], &key.CreatedAt, ""),
		moment(w["key_used"], key.LastUsedAt, w["key_never"]),
	}
	if key.ExpiresAt != nil {
		facts = append(facts, moment(w["key_expires"], key.ExpiresAt, ""))
	}
	if key.RevokedAt != nil {
		facts = append(facts, moment(w["key_revoked_at"], key.RevokedAt, ""))
	}
	return facts
}

func moment(name string, at *time.Time, otherwise string) keyFact {
	if at == nil {
		return keyFact{Name: name, Text: otherwise}
	}
	return keyFact{Name: name, Text: at.UTC().Format("2006-01-02 15:04 UTC"), At: at.UTC().Format(time.RFC3339)}
}

// createForm asks for the password too, unless it was given a moment ago. Its
// number makes one key of it, however often it is sent.
func (s *Server) createForm(c route.Call, back *returned) form {
	w := texts[readers(c)]
	f := form{Name: "create", Action: storefrontPath, Inputs: []input{
		{Name: "name", Required: true, Autocomplete: "off", Long: 100},
		{Name: "mode", Type: "select", Value: string(s.usualMode()), Options: []option{
			{string(storefront.Test), w["key_mode_test"]}, {string(storefront.Live), w["key_mode_live"]},
		}},
		{Name: "allowed_domains", Type: "lines"},
		{Name: "rate_limit_per_minute", Type: "number", Value: "60", Required: true, Min: 1, Max: 6000},
		{Name: "expires_at", Type: "datetime-local"},
	}}
	if !s.isFresh(visitOf(c)) {
		f.Inputs = append(f.Inputs, input{Name: "username", Type: "username", Value: visitOf(c).who.Email},
			input{Name: "password", Type: "password", Autocomplete: "current-password", Required: true})
	}
	f.Inputs = append(f.Inputs, input{Name: "number", Type: "hidden", Value: rand.Text()})
	return s.fill(c, f, back)
}

// handOutKey makes a key and shows it, this once.
func (s *Server) handOutKey(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	var wanted keyForm
	if err := decodeForm(&wanted, sent, "allowed_domains"); err != nil {
		return nil, err
	}
	isFresh := s.isFresh(visitOf(c))
	if !isFresh {
		if err := s.askAgain(ctx, c, "password", sent); err != nil {
			return nil, err
		}
	}
	key, err := s.issueOnce(ctx, c, &wanted, sent.Get("number"))
	if isRepeated(err) {
		return s.createdBefore(c)
	}
	if err != nil {
		return nil, err
	}
	d, err := s.sheet(c, http.StatusOK, "created", "created_title", map[string]any{"Text": key, "Name": wanted.Name})
	if err == nil && !isFresh {
		s.renew(ctx, c, d)
	}
	return d, err
}

// issueOnce makes a key for whoever asks. The number of the form is what an
// Idempotency-Key is to the API.
func (s *Server) issueOnce(ctx context.Context, c route.Call, wanted *keyForm, number string) (string, error) {
	who := visitOf(c).who
	mode := cmp.Or(storefront.Mode(wanted.Mode), s.usualMode())
	text := newKey(mode)
	key, _ := storefront.ParseKey(text)
	cause := c.Cause()
	cause.Key = &domain.OnceKey{
		Principal: c.Caller.Principal, Method: c.Method, Path: c.Path, Key: number,
		Fingerprints: s.Once.Fingerprints([]byte(c.Path), []byte(number)), Status: http.StatusOK, Keep: domain.KeepDay,
	}
	_, err := s.Commands.Execute(ctx, cause, storefront.IssueKey{
		ID: key.ID, Mode: mode, Hash: storefront.HashKey(text), Spec: wanted.APIKey.Fields().Values(),
		CreatedBy: who.ID, Owner: who.ID, At: s.now(),
	})
	return text, err
}

func isRepeated(err error) bool {
	var refusal *domain.Error
	return errors.As(err, &refusal) && refusal.Reason == "idempotency_in_progress"
}

// createdBefore answers a form that was sent twice. Nobody knows the key any
// more but whoever has copied it.
func (s *Server) createdBefore(c route.Call) (*route.Document, error) {
	w := texts[readers(c)]
	return s.sheet(c, http.StatusConflict, "notice", "once_title", map[string]any{
		"Text": w["once_about"], "About": "", "Path": storefrontPath, "Way": w["created_next"],
	})
}

// renew gives the session a new id, because its user has proved to know the
// password, which counts for a while.
func (s *Server) renew(ctx context.Context, c route.Call, d *route.Document) {
	id, err := s.Sessions.RenewSession(ctx, visitOf(c).id)
	if err != nil { // the key is made and has to be shown; the next one asks for the password again
		s.log().WarnContext(ctx, "a session was not renewed", "request_id", c.RequestID, "err", err.Error())
		return
	}
	giving(d, s.cookie(sessionCookie, id, 0))
}

// withdrawKey ends a key at once.
func (s *Server) withdrawKey(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	id := sent.Get("of")
	if _, err := s.Commands.Execute(ctx, c.Cause(), storefront.RevokeKey{ID: id, At: s.now()}); err != nil {
		return nil, err
	}
	s.ForgetKey(id)
	return s.done(storefrontPath, "revoked"), nil
}
