package http

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// sessionTime is how long a payment provider may take to open a page, with a
// little room for writing down what came of it. It does not end when the
// customer's connection does: what was begun is finished.
const sessionTime = 25 * time.Second

// orderCreate places an order and sends its customer to pay. That is one call
// but never one transaction: first the order stands in the log, then the
// provider is asked with nothing open, then its session stands in the log. A
// call that breaks off between them is resumed by its Idempotency-Key.
func (s *Server) orderCreate() route.Route {
	return route.Post(ordersPath, "Place an order and get the page where it is paid", s.placeOrder).
		As("order_create").Checking(route.Check(s.check)).Caching("no-store").Keeping(domain.KeepWeek).Resuming(s.resumeOrder).
		Saying("The customer is sent to payment_url. Repeat the call with the same Idempotency-Key when no answer came, or a 503: it goes on with the same order.").
		Failing(http.StatusBadRequest, "Fields are wrong; all of them are named.").
		Failing(http.StatusConflict, "A call with the same Idempotency-Key is running.").
		Failing(http.StatusUnprocessableEntity, "The Idempotency-Key belongs to another request.").
		Failing(http.StatusServiceUnavailable, "The payment provider does not answer. The order waits, order_id names it: repeat the call with the same Idempotency-Key.")
}

// orderPlaced tells where the customer can pay.
type orderPlaced struct {
	ID         uuid.UUID
	Number     string
	PaymentURL string
	Status     order.Status
}

// Fields are the answer to an order.
func (o *orderPlaced) Fields() field.Set {
	return field.Set{
		field.UUID("order_id", &o.ID),
		field.Text("order_number", &o.Number),
		field.Text("payment_url", &o.PaymentURL).Doc("Where the customer pays."),
		field.Text("status", (*string)(&o.Status)).Among(statuses...),
	}
}

var statuses = []string{
	string(order.StatusPending), string(order.StatusPaymentProcessing), string(order.StatusPaid), string(order.StatusProvisioning),
	string(order.StatusActive), string(order.StatusFailed), string(order.StatusCancelled), string(order.StatusRefunded),
}

func (s *Server) placeOrder(ctx context.Context, c route.Call, f *orderForm) (*orderPlaced, error) {
	if err := s.limitOrders(ctx, c, f); err != nil {
		return nil, err
	}
	subject, err := s.Subjects.Subject(ctx, f.Email)
	if err != nil {
		return nil, err
	}
	id := uuid.New()
	c.Location(ordersPath + id.String() + "/")
	if err := s.place(ctx, c.Cause(), s.agreed(f, keyOf(c), id, subject)); err != nil {
		return nil, err
	}
	return s.toPayment(ctx, id)
}

const numberTries = 5 // of 32^6 numbers a day

// place puts the order into the log. Should its number be taken, it gets
// another one.
func (s *Server) place(ctx context.Context, cause domain.Cause, command order.Place) (err error) {
	for range numberTries {
		var random [6]byte
		_, _ = rand.Read(random[:]) // never fails
		command.Suffix = order.Suffix(random)
		var refusal *domain.Error
		if _, err = s.Commands.Execute(ctx, cause, command); !errors.As(err, &refusal) || refusal.Reason != "order_number_taken" {
			return err
		}
	}
	return err
}

// agreed is what is ordered, as plan and prices are now.
func (s *Server) agreed(f *orderForm, key projections.APIKey, id, subject uuid.UUID) order.Place {
	return order.Place{
		ID: id, Subject: subject,
		Customer: order.Customer{Name: f.Name, Email: f.Email, Phone: f.Phone, Company: f.Company},
		Plan:     bought(f), Period: order.Period(f.Period),
		Price: f.plan.Price, SetupFee: f.plan.SetupFee, TaxRate: s.Settings.TaxRate, Currency: f.plan.Currency,
		Provider: f.offer.Name, Test: !f.offer.Live,
		Domain: f.Domain, OS: f.OS, Language: f.Language, Widget: f.WidgetID,
		APIKey: key.ID, Owner: key.Owner, At: s.now(),
	}
}

// bought is what provisioning will need of the plan.
func bought(f *orderForm) order.Plan {
	p := f.plan
	plan := order.Plan{ID: p.ID, Name: p.Name, Slug: p.Slug, ResourceType: p.ResourceType}
	switch p.ResourceType {
	case storefront.HostingPlan:
		plan.Package = p.Package
		plan.Quotas = map[string]int64{
			"quota_sites": *p.Quotas.Sites, "quota_databases": *p.Quotas.Databases, "quota_storage_gb": *p.Quotas.StorageGB,
			"quota_mailboxes": *p.Quotas.Mailboxes, "quota_domains": *p.Quotas.Domains, "quota_ftp_users": *p.Quotas.FTPUsers,
		}
	case storefront.VPSPlan:
		plan.VPS = &order.VPS{
			Cores: *p.VPS.CPUCores, MemoryMB: *p.VPS.MemoryMB, DiskGB: *p.VPS.DiskGB, TrafficTB: *p.VPS.BandwidthTB, DefaultOS: *p.VPS.DefaultOS,
		}
	case storefront.SaaSPlan:
		plan.SaaS = &order.SaaS{
			MaxVMs: *p.SaaS.MaxVMs, MaxHostingAccounts: *p.SaaS.MaxHostingAccounts, MaxAgents: *p.SaaS.MaxAgents, WhiteLabel: *p.SaaS.WhiteLabel,
		}
	}
	return plan
}

// limitOrders keeps anybody from placing orders in masses with a live key.
func (s *Server) limitOrders(ctx context.Context, c route.Call, f *orderForm) error {
	const perCustomer, perAddress = 10, 30 // in an hour
	if !s.Settings.Abuse || keyOf(c).Mode != storefront.Live {
		return nil
	}
	if err := s.limit(ctx, "orders_customer", strings.ToLower(f.Email), perCustomer, time.Hour); err != nil {
		return err
	}
	return s.limit(ctx, "orders_address", c.IP.String(), perAddress, time.Hour)
}

// resumeOrder goes on with an order whose first answer was never given, or was
// a 503.
func (s *Server) resumeOrder(ctx context.Context, _ route.Call, location string) (route.Answer, error) {
	id, err := uuid.Parse(path.Base(location))
	if err != nil {
		return nil, err
	}
	placed, err := s.toPayment(ctx, id)
	if err != nil {
		return nil, err
	}
	return placed.Fields(), nil
}

// toPayment makes sure that a pending order can be paid, and tells where.
func (s *Server) toPayment(ctx context.Context, id uuid.UUID) (*orderPlaced, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sessionTime)
	defer cancel()
	o, err := s.system().Order(ctx, id)
	if err != nil {
		return nil, err
	}
	placed := &orderPlaced{ID: id, Number: o.OrderNumber, PaymentURL: o.PaymentURL, Status: o.Status}
	if o.Status != order.StatusPending {
		return placed, nil
	}
	session, err := s.Payments.OpenSession(ctx, id)
	if err != nil {
		return nil, s.unpayable(ctx, id, err)
	}
	placed.PaymentURL, placed.Status = session.URL, order.StatusPaymentProcessing
	return placed, nil
}

// unpayable is the answer when no page could be opened. Why, is for the log.
func (s *Server) unpayable(ctx context.Context, id uuid.UUID, err error) error {
	if s.Settings.Unavailable != nil && s.Settings.Unavailable(err) {
		return err
	}
	s.log().WarnContext(ctx, "no payment page could be opened", "order", id.String(), "err", err.Error())
	return &route.Refusal{
		Status: http.StatusServiceUnavailable, After: 5 * time.Second,
		Detail: "The payment provider is temporarily unavailable.", Code: "payment_provider_unavailable",
		More: []route.Member{{Name: "order_id", Value: id.String()}},
	}
}
