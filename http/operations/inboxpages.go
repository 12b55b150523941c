package operations

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// What payment providers have sent, as operators see it in a browser
// (docs/operations.md, "In the browser").

const (
	entryPagePath = web.InboxPath + "{id:int}/"
	bodyShown     = 64 << 10 // bytes of a body
)

func (s *inbox) pageRoutes() []route.Route {
	return append([]route.Route{
		web.ViewList(s.list(), web.InboxPath, "The webhooks of payment providers").As("inbox_page"),
	}, web.ActRoutes(s.entryDesk(), entryPagePath, "inbox_entry", "WebhookEvent", "A webhook as it came", "Do something with a webhook")...)
}

// list is the page of what payment providers have sent.
func (s *inbox) list() web.List[operations.Webhook] {
	l := entryList
	l.Web, l.Name, l.Search, l.Read = s.web, "inbox", "inbox_search", s.listWebhooks
	l.Choices = []web.Choice{
		{Name: "provider", Values: s.paymentMethods, Says: func(_ web.Words, name string) string { return name }},
		{Name: "state", Text: "inbox_is_", Values: operations.WebhookStates},
	}
	return l
}

// entryList shows webhooks. None of them leads to the page on which it stands.
var entryList = web.List[operations.Webhook]{
	Fields: (*operations.Webhook).Fields, Wide: true,
	Cards: web.Cards{
		Page: web.InboxPath, Title: "event_id", Badges: []string{"state"}, Lines: []string{"type"}, Fault: "error",
		Note: []string{"provider+received_at"},
	},
	More: func(c route.Call, e *operations.Webhook, card *web.Card) {
		w := web.Texts[web.Readers(c)]
		if e.Attempts > 1 {
			card.Badges = append(card.Badges, web.Badge{Text: w["step_attempts"] + " " + strconv.Itoa(e.Attempts)})
		}
		if e.Order != nil && notice.OrderPage(*e.Order) != c.Path {
			card.Note = append(card.Note, web.Aspect{Text: w["run_to_order"], Path: notice.OrderPage(*e.Order)})
		}
	},
}

// entryDesk is the page of a webhook with its forms.
func (s *inbox) entryDesk() web.ActPage[*webhookDetail] {
	return web.ActPage[*webhookDetail]{
		Web: s.web, Show: s.showEntry,
		Find: func(ctx context.Context, c route.Call) (*webhookDetail, error) { return s.webhook(ctx, c.ID("id")) },
		Acts: []web.Act[*webhookDetail]{{
			Name: "match", IsOpen: func(w *webhookDetail) bool { return w.State == "unmatched" }, Grave: true,
			Inputs: matchInputs, Do: web.Pressed(s.matchWebhook),
		}, {
			Name: "replay", IsOpen: web.Always[*webhookDetail], Inputs: optionalReason[*webhookDetail],
			Do: web.Pressed(func(ctx context.Context, c route.Call, w *webhookDetail, why *asking) error {
				return s.payments.ReplayWebhook(ctx, c.Cause(), w.ID, why.Reason)
			}),
		}},
	}
}

func matchInputs(w *webhookDetail) []web.Input {
	return append([]web.Input{{Name: "order", Required: true, Autocomplete: "off", Long: 64, Plain: true}}, reasonInput(w)...)
}

// showEntry is the page of a webhook.
func (s *inbox) showEntry(
	_ context.Context, c route.Call, e *webhookDetail, acts []web.ActForm, back *web.Returned,
) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	body, isCut := e.shownBody()
	return s.web.Sheet(c, back.StatusOf(), "entry", "entry_title", map[string]any{
		"Entry": w.Card(entryList.Cards, e.Fields()), "Facts": entryFacts(w, &e.Webhook), "Headers": laidOut(e.Headers), "Body": body,
		"IsCut":   isCut,
		"HasBody": e.Body != nil, "Acts": acts, "Wide": true,
	})
}

func entryFacts(w web.Words, e *operations.Webhook) []web.Aspect {
	facts := w.Values(e.Fields(), "provider", "event_id", "type", "received_at", "attempts")
	if e.Order != nil {
		facts = append(facts, web.Aspect{Name: w["order_title"], Text: w["run_to_order"], Path: notice.OrderPage(*e.Order)})
	}
	return facts
}

// shownBody is the beginning of the body, and whether there is more of it.
func (w *webhookDetail) shownBody() (text string, isCut bool) {
	if all := w.text(); all != nil {
		text = *all
	}
	if json.Valid([]byte(text)) {
		text = laidOut([]byte(text))
	}
	if len(text) <= bodyShown {
		return text, false
	}
	text = text[:bodyShown]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text, true
}

// laidOut is JSON with a value a line.
func laidOut(text json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(text), "", "  "); err != nil {
		return string(text)
	}
	return strings.TrimSpace(b.String())
}
