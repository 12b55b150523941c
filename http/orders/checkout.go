package orders

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// checkoutArea are the pages that a customer passes between the order form and the
// thanks of the shop.
func (s *Area) checkoutArea() route.Area {
	area := route.Area{
		Name: "Checkout", Access: route.Open,
		About: "The pages that customers pass while they pay.",
		Routes: []route.Route{
			route.View(http.MethodGet, order.ReturnPath+"{order_id:uuid}/", "Where payment providers send customers back to", s.comeBack).
				As("payment_return").Of("Order"),
		},
	}
	if s.Hosted != nil {
		area.Routes = append(area.Routes,
			route.View(http.MethodGet, s.Hosted.PagePath(), "The payment page of the test provider", s.showHostedPage).
				As("test_checkout_page"),
			route.View(http.MethodPost, s.Hosted.PagePath(), "Press a button on the test provider's page", s.pressButton).
				As("test_checkout"))
	}
	return area
}

func (s *Area) showHostedPage(ctx context.Context, c route.Call) (*route.Document, error) {
	session, err := s.Hosted.Session(ctx, c.Var("session"))
	if err != nil {
		return nil, err
	}
	return s.hostedPage(ctx, c, http.StatusOK, session, "")
}

// pressButton does on the page what its buttons say. A visitor who returns from
// it is redirected; a declined card may be tried again.
func (s *Area) pressButton(ctx context.Context, c route.Call) (*route.Document, error) {
	form, err := c.Form()
	if err != nil {
		return nil, err
	}
	var button hostedForm
	if err := web.DecodeForm(&button, form); err != nil {
		return nil, err
	}
	session, err := s.Hosted.Act(ctx, button.action(c.Var("session")))
	var refusal *domain.Error
	switch {
	case errors.As(err, &refusal) && refusal.Code == domain.Conflict:
		return s.closedPage(ctx, c)
	case err != nil:
		return nil, err
	}
	switch button.Action {
	case "pay", "unpaid":
		return nil, route.SeeOther(session.ReturnURL)
	case "cancel", "expire":
		return nil, route.SeeOther(session.CancelURL)
	}
	return s.hostedPage(ctx, c, http.StatusOK, session, web.Texts[web.Spoken(session.Language)]["declined"])
}

// closedPage answers a button that is pressed after the session is over.
func (s *Area) closedPage(ctx context.Context, c route.Call) (*route.Document, error) {
	session, err := s.Hosted.Session(ctx, c.Var("session"))
	if err != nil {
		return nil, err
	}
	return s.hostedPage(ctx, c, http.StatusConflict, session, "")
}

// A hostedForm is a button of the page, with fields for trying out what may go
// wrong.
type hostedForm struct {
	Action         string
	Amount         *int64
	Currency       string
	Copies         int64
	Distinct, Drop bool
	Delay, Settle  int64  // milliseconds
	Card           string // what a kept card does when it is charged
}

// Fields are the form of the test provider's page (docs/storefront.md, "Test
// checkout").
func (f *hostedForm) Fields() field.Set {
	const fortnight = 14 * 24 * 60 * 60 * 1000
	return field.Set{
		field.Text("action", &f.Action).Required().Among("pay", "decline", "cancel", "expire", "unpaid"),
		field.NullInt("amount", &f.Amount).Min(0),
		field.Text("currency", &f.Currency).Is(field.Match(`^[A-Za-z]{3}$`)).Default(""),
		field.Int("copies", &f.Copies).Between(1, 200).Default(1),
		field.Flag("distinct", &f.Distinct).Default(false),
		field.Int("delay_ms", &f.Delay).Between(0, fortnight).Default(0),
		field.Flag("drop", &f.Drop).Default(false),
		field.Text("card", &f.Card).Among("succeed", "decline", "authenticate", "disappear").Default("succeed"),
		field.Int("settle_ms", &f.Settle).Between(0, fortnight).Default(0),
	}
}

func (f *hostedForm) action(session string) order.HostedAction {
	return order.HostedAction{
		Session: session, Action: f.Action, Amount: f.Amount, Currency: f.Currency, Copies: int(f.Copies),
		Distinct: f.Distinct, Drop: f.Drop, Card: f.Card,
		Delay: time.Duration(f.Delay) * time.Millisecond, Settle: time.Duration(f.Settle) * time.Millisecond,
	}
}

func (s *Area) hostedPage(
	ctx context.Context, c route.Call, status int, session order.HostedSession, message string,
) (*route.Document, error) {
	language := web.Spoken(session.Language)
	isOpen := session.State == order.SessionOpen && s.Callers.Now().Before(session.ExpiresAt)
	back := session.CancelURL
	if session.State == order.SessionComplete {
		back = session.ReturnURL
	}
	if !isOpen {
		message = web.Texts[language][whyClosed(session)]
	}
	title := web.Texts[language]["test_title"]
	if session.Number != "" { // what pays nothing has none
		title += " · " + session.Number
	}
	d, err := web.Page(status, "checkout", language, map[string]any{
		"Title":   title,
		"Session": session, "Amount": web.Texts[language].Minor(session.Minor, session.Currency), "Open": isOpen,
		"Message": message, "Back": back, "Path": c.Path,
	})
	if err != nil {
		return nil, err
	}
	d.FormAction, err = s.returnOrigins(ctx, session)
	return d, err
}

func whyClosed(session order.HostedSession) string {
	switch {
	case session.State != order.SessionComplete:
		return "expired"
	case session.Setup:
		return "test_added"
	case session.Payment == order.StatePaid:
		return "completed"
	}
	return "awaiting"
}

// returnOrigins are where the way from the page's form may lead to in the end:
// browsers follow the whole way with the page's policy in hand.
func (s *Area) returnOrigins(ctx context.Context, session order.HostedSession) ([]string, error) {
	o, err := s.Callers.System().Orders().Order(ctx, session.Order)
	if record.IsMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var origins []string
	for _, outcome := range []string{"success", "cancel"} {
		target, err := s.shopPage(ctx, o, outcome)
		if err != nil {
			return nil, err
		}
		if target != nil {
			origins = append(origins, originOf(target))
		}
	}
	return origins, nil
}

func originOf(u *url.URL) string { return u.Scheme + "://" + u.Host }
