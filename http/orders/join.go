package orders

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/http/caller"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

// The customer of an unpaid order follows a mailed link and chooses which tenant the order
// joins. The link itself is the proof: it asks for no sign-in, and works until the order is
// paid or has ended (docs/orders.md, "Joining a tenant by a link").

const (
	joinPath     = order.JoinPath + "{token}/"
	joinForm     = "join"
	newTenant    = "new"
	guessedJoins = 20 // a minute, from one network
)

// joinArea is the page behind the link.
func (s *Area) joinArea() route.Area {
	return route.Area{
		Name: "Joining", Access: route.Open,
		About: "Where the link in the mail about an order leads to by which it joins a tenant.",
		Routes: []route.Route{
			route.View(http.MethodGet, joinPath, "The page on which the customer chooses the tenant of an order", s.showJoin).
				As("order_join_page"),
			route.View(http.MethodPost, joinPath, "Choose the tenant of an order", s.join).
				As("order_join"),
		},
	}
}

func (s *Area) showJoin(ctx context.Context, c route.Call) (*route.Document, error) {
	_, choice, err := s.choice(ctx, c)
	if err != nil {
		return s.wrongJoin(c, err)
	}
	return s.joinPage(c, choice, nil)
}

// join lets the order join the chosen tenant. Sent again it changes nothing.
func (s *Area) join(ctx context.Context, c route.Call) (*route.Document, error) {
	link, choice, err := s.choice(ctx, c)
	if err != nil {
		return s.wrongJoin(c, err)
	}
	sent, err := c.Form()
	if err != nil {
		return nil, err
	}
	var wrong field.Errors
	tenant := takeTenant(choice, sent.Get("form"), sent.Get("tenant"), &wrong)
	switch {
	case !choice.IsOpen():
		return s.joinPage(c, choice, &web.Returned{Status: http.StatusConflict})
	case len(wrong) > 0:
		return s.joinPage(c, choice, &web.Returned{Form: joinForm, Sent: sent, Wrong: wrong, Status: http.StatusBadRequest})
	}
	joins := order.Joining{Tenant: tenant, User: link.User}
	if tenant == 0 {
		joins.User = 0
	}
	cause := c.Cause()
	cause.Actor = "user:" + strconv.FormatInt(link.User, 10)
	err = s.Orders.ChooseTenant(ctx, cause, link.Order, joins)
	if domain.CodeOf(err) == domain.Conflict { // it was paid in between
		if choice, err = s.Orders.Choice(ctx, link.Order, link.User); err != nil {
			return s.wrongJoin(c, err)
		}
		return s.joinPage(c, choice, &web.Returned{Status: http.StatusConflict})
	}
	if err != nil {
		return nil, err
	}
	return web.Secluded(s.Web.Done(c.Path, joinForm), nil)
}

// takeTenant is the tenant that the form names; 0: a new one.
func takeTenant(choice order.TenantChoice, form, sent string, wrong *field.Errors) int64 {
	if form != joinForm {
		wrong.Add("form", "Send the form of the page.")
		return 0
	}
	if sent == newTenant {
		return 0
	}
	i := slices.IndexFunc(choice.Tenants, func(t order.NamedTenant) bool { return strconv.FormatInt(t.ID, 10) == sent })
	switch {
	case sent == "":
		wrong.Add("tenant", field.Missing)
	case i < 0:
		wrong.Add("tenant", field.NotAChoice(sent))
	default:
		return choice.Tenants[i].ID
	}
	return 0
}

// joinPage shows the order, and the choice as long as it can be made.
func (s *Area) joinPage(c route.Call, choice order.TenantChoice, back *web.Returned) (*route.Document, error) {
	w := web.Texts[web.Readers(c)]
	data := map[string]any{"Number": choice.Number, "Plan": choice.Plan, "Form": nil, "About": w["join_about"]}
	if choice.IsOpen() {
		inputs := []web.Input{{Name: "form", Type: "hidden", Value: joinForm}, tenantInput(choice, w)}
		data["Form"] = web.Form{Name: joinForm, Action: c.Path, Inputs: inputs}.In(web.Readers(c), back)
	} else {
		data["About"] = w[joinOver(choice)]
	}
	return web.Secluded(s.Web.Sheet(c, back.StatusOf(), "join", "join_title", data))
}

// joinOver says why there is nothing to choose any more.
func joinOver(choice order.TenantChoice) string {
	switch {
	case choice.Status == order.StatusCancelled || choice.Status == order.StatusRefunded:
		return "join_ended"
	case choice.Joins != 0:
		return "join_joined"
	}
	return "join_paid"
}

// tenantInput asks for the tenant. What is chosen by now stands first in mind, or else the
// only one that there is.
func tenantInput(choice order.TenantChoice, w web.Words) web.Input {
	in := web.Input{Name: "tenant", Key: "join_tenant", Type: "select", Required: true}
	switch {
	case choice.Joins != 0:
		in.Value = strconv.FormatInt(choice.Joins, 10)
	case len(choice.Tenants) == 1:
		in.Value = strconv.FormatInt(choice.Tenants[0].ID, 10)
	default:
		in.Options = append(in.Options, web.Option{Text: w["join_choose"]})
	}
	for _, t := range choice.Tenants {
		id := strconv.FormatInt(t.ID, 10)
		in.Options = append(in.Options, web.Option{Value: id, Text: strings.TrimSpace(t.Name + " (" + id + ")")})
	}
	in.Options = append(in.Options, web.Option{Value: newTenant, Text: w["join_new"]})
	return in
}

// choice is what the link is about. Who tries many wrong ones is stopped.
func (s *Area) choice(ctx context.Context, c route.Call) (notice.Joining, order.TenantChoice, error) {
	link, ok := notice.ReadJoining(c.Var("token"), s.LinkKeys...)
	if !ok {
		err := domain.Refuse(domain.NotFound, "The link is none of ours.")
		return link, order.TenantChoice{}, errors.Join(
			s.Callers.Limiter.Spend(ctx, "guessed_join", caller.Network(c.IP, 32, 64), guessedJoins, time.Minute), err,
		)
	}
	choice, err := s.Orders.Choice(ctx, link.Order, link.User)
	return link, choice, err
}

// wrongJoin answers a link that is forged as one whose order or account is gone.
func (s *Area) wrongJoin(c route.Call, err error) (*route.Document, error) {
	var throttled *route.Refusal
	if !record.IsMissing(err) || errors.As(err, &throttled) {
		return nil, err
	}
	w := web.Texts[web.Readers(c)]
	return web.Secluded(s.Web.Sheet(c, http.StatusNotFound, "notice", "join_wrong_title", map[string]any{
		"Text": w["join_wrong"], "About": w["join_wrong_about"], "Path": "/", "Way": w["go_home"],
	}))
}
