package orders

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/waiting"
	"hostpanel/http/web"
	"hostpanel/projections"
)

const returnWait = 3 * time.Second // for the provider's truth to arrive

// comeBack receives a customer from the payment provider. The visit proves
// nothing, pays nothing and cancels nothing: it only makes the panel ask the
// provider, waits a little for what comes of that, and sends the customer on.
func (s *Area) comeBack(ctx context.Context, c route.Call) (*route.Document, error) {
	id, outcome := c.UUID("order_id"), c.Param("outcome")
	o, err := s.Callers.System().Orders().Order(ctx, id)
	if err != nil {
		return nil, err
	}
	if isUnsettled(o.Status) {
		if o, err = s.askAndWait(ctx, o); err != nil {
			return nil, err
		}
	}
	target, err := s.shopPage(ctx, o, outcome)
	if err != nil {
		return nil, err
	}
	if target != nil {
		return nil, route.SeeOther(withQuery(target, "order_id", o.ID.String()))
	}
	return s.resultPage(ctx, c, o)
}

func isUnsettled(s order.Status) bool {
	return s == order.StatusPending || s == order.StatusPaymentProcessing
}

// askAndWait has the order looked at and waits until something has changed, or
// the customer has waited long enough.
func (s *Area) askAndWait(ctx context.Context, o projections.Order) (projections.Order, error) {
	if err := s.Payments.Hint(ctx, o.ID, "return"); err != nil {
		return o, err
	}
	now := o
	err := waiting.For(ctx, s.Changes, returnWait, func(ctx context.Context) (_ bool, err error) {
		now, err = s.Callers.System().Orders().Order(ctx, o.ID)
		return now.Version != o.Version, err
	})
	return now, err
}

// shopPage is where the order, or else its widget, wants the customer to go. It is nil
// where no page is named, or one on a site that the order's key is not for.
func (s *Area) shopPage(ctx context.Context, o projections.Order, outcome string) (*url.URL, error) {
	own := byOutcome(outcome, o.SuccessURL, o.CancelURL)
	text, err := own, error(nil)
	if own == "" {
		text, err = s.widgetPage(ctx, o.WidgetID, outcome)
	}
	if err != nil || text == "" {
		return nil, err
	}
	key, issued, err := s.Callers.System().Orders().APIKey(ctx, o.APIKey)
	if err != nil || !issued || own != "" && !s.mayReturnTo(key, own) {
		return nil, err
	}
	target, err := url.Parse(text)
	if err != nil || !route.AdmitsOrigin(key.AllowedDomains, originOf(target), s.PublicURL()) {
		return nil, nil //nolint:nilerr // a page that cannot be gone to is none
	}
	return target, nil
}

// widgetPage is where a widget wants its customers to go; "": nowhere.
func (s *Area) widgetPage(ctx context.Context, id, outcome string) (string, error) {
	if id == "" {
		return "", nil
	}
	widget, err := s.Callers.Reading(caller.Identity{}).Orders().Widget(ctx, id)
	if record.IsMissing(err) {
		return "", nil
	}
	return byOutcome(outcome, widget.SuccessURL, widget.CancelURL), err
}

func byOutcome(outcome, success, cancel string) string {
	if outcome == "cancel" {
		return cancel
	}
	return success
}

// mayReturnTo tells whether an order may name a page for its customer. Keys are public,
// so one without domains leads nowhere: links of the panel would lead anywhere else.
func (s *Area) mayReturnTo(key projections.APIKey, page string) bool {
	target, err := url.Parse(page)
	return err == nil && len(key.AllowedDomains) > 0 && route.AdmitsOrigin(key.AllowedDomains, originOf(target), s.PublicURL())
}

// shop is where the customer finds the shop: a page that the order or its widget names, or
// else a website that the order's key is for and has been used on. It is nil where none is
// known.
func (s *Area) shop(ctx context.Context, o projections.Order) (*url.URL, error) {
	for _, outcome := range []string{"cancel", "success"} {
		if page, err := s.shopPage(ctx, o, outcome); err != nil || page != nil {
			return page, err
		}
	}
	key, issued, err := s.Callers.System().Orders().APIKey(ctx, o.APIKey)
	if err != nil || !issued {
		return nil, err
	}
	for _, site := range key.Origins {
		if site != s.PublicURL() && s.mayReturnTo(key, site) {
			return url.Parse(site + "/")
		}
	}
	return nil, nil
}

// withQuery is an address with a parameter more.
func withQuery(target *url.URL, name, value string) string {
	query, more := target.Query(), *target
	query.Set(name, value)
	more.RawQuery = query.Encode()
	return more.String()
}

const lookEvery = 3 // seconds between two looks of the page, until the order has come to an end

// ends are the states in which an order stays, with what the page says of them.
var ends = map[order.Status]string{
	order.StatusActive: "result_active", order.StatusCancelled: "nothing_paid", order.StatusRefunded: "result_refunded",
}

// resultPage tells how the order stands. Of its customer it has a hint of the address to which
// the mail went, and where another one is asked for. It goes on by
// itself until the order is active or ended, and leads into the panel or back to the shop.
func (s *Area) resultPage(ctx context.Context, c route.Call, o projections.Order) (*route.Document, error) {
	view, err := s.explained(ctx, s.Callers.System(), o.ID)
	if err != nil {
		return nil, err
	}
	language := web.Spoken(o.Language)
	data := map[string]any{
		"Heading": web.Texts[language]["result_title"], "Invoice": "", "Live": web.LivePath, "Look": c.Path,
		"Order": view, "Payment": "", "Panel": "", "Shop": "", "Again": "", "About": "thanks", "Every": lookEvery,
		"Mailed": "", "Reset": web.ResetPath,
	}
	text, isEnd := ends[view.Status]
	if isEnd {
		data["About"], data["Every"] = text, 0
	}
	if o.Invoice != nil {
		ofInvoice(data, web.Texts[language], view, *o.Invoice)
	} else if view.Status == order.StatusActive {
		data["Panel"] = web.PanelPath
		if o.OrderedBy == nil { // who is signed in has an account
			data["Mailed"] = hinted(o.CustomerEmail)
		}
	}
	if view.Status == order.StatusPaymentProcessing && !view.Settling {
		data["Payment"] = o.PaymentURL
	}
	shop, err := s.shop(ctx, o)
	switch {
	case err != nil:
		return nil, err
	case shop == nil:
	case o.Invoice != nil: // the customer came from the invoice
	case isEnd && view.Status != order.StatusActive:
		data["Again"] = withQuery(shop, "plan_id", strconv.FormatInt(o.PlanID, 10))
	default:
		data["Shop"] = withQuery(shop, "order_id", o.ID.String())
	}
	data["Title"] = fmt.Sprintf("%s · %s", data["Heading"], view.OrderNumber)
	return web.Page(http.StatusOK, "result", language, data)
}

// hinted is an address that its owner recognizes and others do not learn; "": there is none.
func hinted(email string) string {
	name, host, isAddress := strings.Cut(email, "@")
	if !isAddress || name == "" {
		return ""
	}
	_, size := utf8.DecodeRuneInString(name)
	return name[:size] + "…@" + host
}

// ofInvoice makes it the page of an order that pays an invoice: it sets nothing up, and
// leads back to the invoice.
func ofInvoice(data map[string]any, w web.Words, view *projections.OrderView, invoice uuid.UUID) {
	data["Heading"], data["Invoice"] = w["result_invoice_title"], web.InvoicesPath+invoice.String()+"/"
	switch view.Status {
	case order.StatusPending, order.StatusPaymentProcessing:
		data["About"] = "result_invoice_wait"
	case order.StatusPaid, order.StatusProvisioning:
		view.StatusMessage, data["About"] = w["result_invoice_received"], "result_invoice_wait"
	case order.StatusActive:
		view.StatusMessage, data["About"] = w["result_invoice_paid"], "result_invoice_thanks"
	case order.StatusFailed, order.StatusCancelled, order.StatusRefunded: // as of any order
	}
}
