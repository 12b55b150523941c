package operations

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
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
		web.View(web.InboxPath, "The webhooks of payment providers", s.showInbox).As("inbox_page"),
	}, s.entryDesk().Routes(entryPagePath, "inbox_entry", "WebhookEvent", "A webhook as it came", "Do something with a webhook")...)
}

func entryPage(w *operations.Webhook) string {
	return web.InboxPath + strconv.FormatInt(w.ID, 10) + "/"
}

// An entryRow is a webhook in a list.
type entryRow struct {
	Path, Event, Type, Provider, State, StateText, Error, Order, Attempts string
	At                                                                    web.Aspect // when it came
}

func rowOfEntry(w web.Words, e *operations.Webhook) entryRow {
	row := entryRow{
		Path: entryPage(e), Event: e.EventID, Type: e.Type, Provider: e.Provider, State: e.State, StateText: wordOf(w, "inbox_is_", e.State),
		Error: e.Error, At: w.Moment("", &e.ReceivedAt, ""),
	}
	if e.Order != nil {
		row.Order = notice.OrderPage(*e.Order)
	}
	if e.Attempts > 1 {
		row.Attempts = strconv.Itoa(e.Attempts)
	}
	return row
}

// entryRows are webhooks on the page at a path. None of them leads to that page.
func entryRows(w web.Words, all []operations.Webhook, at string) []entryRow {
	rows := make([]entryRow, len(all))
	for i := range all {
		rows[i] = rowOfEntry(w, &all[i])
		if rows[i].Order == at {
			rows[i].Order = ""
		}
	}
	return rows
}

func (s *inbox) showInbox(ctx context.Context, c route.Call) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	itself := func(name string) string { return name }
	listing, bar := web.Asked(c, w, web.Choice{Name: "provider", Values: s.paymentMethods, Says: itself}, web.Choice{Name: "state", Text: "inbox_is_", Values: inboxStates})
	listing.Search = bar.Searched(c, w["inbox_search"])
	found, err := s.payments.WebhooksListed(ctx, listing)
	if err != nil {
		return nil, err
	}
	return s.web.Sheet(c, http.StatusOK, "inbox", "inbox_title", web.Paged(c, bar, found.Count, map[string]any{"Entries": entryRows(w, found.Rows, c.Path)}))
}

// entryDesk is the page of a webhook with its forms.
func (s *inbox) entryDesk() web.ActPage[*webhookDetail] {
	return web.ActPage[*webhookDetail]{
		Web: s.web, Show: s.showEntry,
		Find: func(ctx context.Context, c route.Call) (*webhookDetail, error) { return s.webhook(ctx, c.ID("id")) },
		Acts: []web.Act[*webhookDetail]{{
			Name: "match", IsOpen: func(w *webhookDetail) bool { return w.State == "unmatched" }, Grave: true, Inputs: matchInputs, Do: web.Pressed(s.matchWebhook),
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
func (s *inbox) showEntry(_ context.Context, c route.Call, e *webhookDetail, acts []web.ActForm, back *web.Returned) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	body, isCut := e.shownBody()
	return s.web.Sheet(c, back.StatusOf(), "entry", "entry_title", map[string]any{
		"Entry": rowOfEntry(w, &e.Webhook), "Facts": entryFacts(w, &e.Webhook), "Headers": laidOut(e.Headers), "Body": body, "IsCut": isCut,
		"HasBody": e.Body != nil, "Acts": acts, "Wide": true,
	})
}

func entryFacts(w web.Words, e *operations.Webhook) []web.Aspect {
	facts := []web.Aspect{
		{Name: w["about_provider"], Text: e.Provider},
		{Name: w["entry_event"], Text: e.EventID},
		{Name: w["entry_type"], Text: e.Type},
		w.Moment(w["entry_came"], &e.ReceivedAt, ""),
		{Name: w["entry_attempts"], Text: strconv.Itoa(e.Attempts)},
	}
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
