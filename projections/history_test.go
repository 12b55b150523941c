package projections

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/compute"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	desk "hostpanel/domain/operations"
	"hostpanel/domain/order"
	"hostpanel/domain/storefront"
)

// A history is written by chance. What is refused has not happened.
type history struct {
	*panel
	chance *rand.Rand
	orders []order.Place
	spares bool // erases no person
}

func (h *history) write(t testing.TB, commands int) {
	t.Helper()
	for range commands {
		err := h.next(t.Context())
		var refusal *domain.Error
		if err != nil && !errors.As(err, &refusal) {
			t.Error(err)
			return
		}
	}
}

// writeUntil writes until so many rows stand in a table: how many commands are refused is
// left to chance.
func (h *history) writeUntil(t testing.TB, table string, rows int) {
	t.Helper()
	for stands := 0; stands < rows && !t.Failed(); {
		h.write(t, 50)
		if err := h.owner.QueryRow(t.Context(), `select count(*) from `+table).Scan(&stands); err != nil {
			t.Fatal(err)
		}
	}
}

func (h *history) next(ctx context.Context) error {
	if h.chance.IntN(50) == 0 && !h.spares {
		return h.erase(ctx, h.person())
	}
	_, err := h.Execute(ctx, domain.Metadata{Actor: "chance"}, h.any()...)
	return err
}

// person is a customer who has ordered, or who has an account or a tenant.
func (h *history) person() uuid.UUID {
	if len(h.orders) > 0 && h.flip() {
		return h.orders[h.chance.IntN(len(h.orders))].Subject
	}
	return h.uuid()
}

func (h *history) id() int64       { return 1 + h.chance.Int64N(20) }
func (h *history) flip() bool      { return h.chance.IntN(2) == 0 }
func (h *history) at() time.Time   { return noon.Add(time.Duration(h.chance.IntN(1000)) * time.Second) }
func (h *history) uuid() uuid.UUID { return uuid.NewSHA1(uuid.Nil, fmt.Append(nil, h.id())) }
func (h *history) site() string    { return fmt.Sprintf("site%d.example.com", h.id()) }
func (h *history) ref() hosting.Ref {
	return hosting.Ref{Kind: []string{"tenant", "site", "site", "dns_zone", "dns_record", "dns_record"}[h.chance.IntN(6)], ID: h.id()}
}

func (h *history) any() []domain.Command {
	switch h.chance.IntN(12) {
	case 11:
		return []domain.Command{h.machine()}
	case 0, 1, 2:
		return h.order()
	case 3, 4:
		return []domain.Command{h.resource()}
	case 5:
		return []domain.Command{h.account()}
	case 6:
		return []domain.Command{h.shop()}
	case 7:
		return []domain.Command{h.operation()}
	case 8:
		return []domain.Command{h.incident()}
	case 9:
		return []domain.Command{h.hook()}
	default:
		return []domain.Command{h.notice()}
	}
}

func (h *history) order() []domain.Command {
	if len(h.orders) == 0 || h.chance.IntN(6) == 0 {
		c := h.place("")
		if h.flip() {
			c.Domain = h.site()
		} else if h.flip() {
			c.Plan.ResourceType, c.Machine.Placement = "vps", h.placement()
		}
		h.orders = append(h.orders, c)
		return []domain.Command{c}
	}
	c := h.orders[h.chance.IntN(len(h.orders))]
	switch h.chance.IntN(20) {
	case 18:
		return h.movement(c.ID)
	case 0, 1, 2:
		return []domain.Command{order.OpenSession{ID: c.ID, At: noon, Host: "127.0.0.1", Session: order.Session{
			ID: session(c.ID), URL: "http://127.0.0.1/pay", ExpiresAt: noon.Add(time.Hour),
		}}}
	case 3, 4:
		return []domain.Command{h.news(c)}
	case 5:
		return []domain.Command{order.StartProvisioning{ID: c.ID, At: h.at()}}
	case 6:
		return []domain.Command{order.Park{ID: c.ID, Step: "site", Code: "name_taken", At: h.at()}}
	case 7:
		return []domain.Command{order.Resume{ID: c.ID, Step: "site", How: order.Retry, Reason: "again", At: h.at()}}
	case 8:
		return []domain.Command{order.Activate{ID: c.ID, At: h.at()}, order.DelayMail{ID: c.ID, At: h.at()}}
	case 9:
		return []domain.Command{order.ConfirmMail{ID: c.ID, At: h.at()}}
	case 10:
		return []domain.Command{order.Cancel{ID: c.ID, By: order.ByAdmin, At: h.at()}}
	case 11:
		return []domain.Command{order.RequestRefund{ID: c.ID, Reason: "goodwill", At: h.at()}}
	case 12:
		return []domain.Command{
			order.DecideDispute{
				ID:      c.ID,
				Outcome: []order.DisputeState{order.DisputeOpen, order.DisputeWon, order.DisputeLost}[h.chance.IntN(3)],
				Reason:  "told", At: h.at(),
			},
		}
	case 13:
		return []domain.Command{order.CompleteCompensation{ID: c.ID, At: h.at()}}
	case 14, 15:
		to := billing.PlanTerms{
			Plan: h.id(), PlanName: "Other", BillingPeriod: []string{"monthly", "yearly"}[h.chance.IntN(2)],
			Price: decimal.New(h.chance.Int64N(20_000), -2),
		}
		return []domain.Command{
			billing.ChangePlan{Order: c.ID, To: to, Invoice: invoiceOfChange(c.ID), At: h.at(), Terms: billing.UsualTerms},
		}
	case 16:
		return []domain.Command{billing.Renew{Order: c.ID, Invoice: invoiceOfChange(c.ID), At: h.at(), Terms: billing.UsualTerms}}
	case 17:
		return []domain.Command{billing.Advance{Order: c.ID, Invoice: h.uuid(), At: h.at().AddDate(1, 1, 0), Terms: billing.UsualTerms}}
	default:
		tenant := 1 + int64(c.ID[0])
		return []domain.Command{
			billing.Subscribe{
				Order: c.ID, Tenant: tenant, User: h.id(), Plan: 1, PlanName: "Basic", BillingPeriod: "yearly",
				Price: c.Price, Currency: "EUR", At: h.at(),
			},
			billing.Issue{
				Order: c.ID, Tenant: tenant, SubjectID: c.Subject, Name: "Ana", Lines: []billing.Line{{Text: "Basic"}},
				Total: c.Price, Subtotal: c.Price, Currency: "EUR", At: h.at(),
			},
			billing.Credit{Invoice: c.ID, Order: c.ID, Refund: h.uuid().String(), Amount: decimal.New(1, -1), At: h.at()},
			billing.BookPayment{
				CreditAccount: billing.CreditAccount{Tenant: tenant, Currency: "EUR"}, ID: c.ID,
				Amount: decimal.New(1+h.chance.Int64N(2000), -2), Method: "cash", Reference: c.ID.String(),
				Received: h.at(), At: h.at(),
			},
			billing.SaveMethod{
				ID: c.ID, Tenant: tenant, At: h.at(),
				Kept: billing.KeptMethod{
					SubjectID: c.Subject, Order: c.ID, Provider: "test", Token: "pm_1", Kind: "card", Brand: "visa",
					Last4: "4242",
				},
			},
			billing.StartSetup{ID: c.ID, Tenant: tenant, User: h.id(), Subject: c.Subject, Provider: "test", At: h.at(), ExpiresAt: h.at()},
			billing.OpenSetup{ID: c.ID, Session: "seti_1", URL: "https://pay.example.com/seti_1", ExpiresAt: h.at(), At: h.at()},
		}
	}
}

// movement is one of the balance that was booked with an order.
func (h *history) movement(id uuid.UUID) []domain.Command {
	a := billing.CreditAccount{Tenant: 1 + int64(id[0]), Currency: "EUR"}
	amount := decimal.New(1+h.chance.Int64N(1000), -2)
	return [][]domain.Command{
		{billing.ApplyCredit{CreditAccount: a, Invoice: invoiceOfChange(id), Amount: amount, At: h.at()}},
		{billing.ReturnCredit{CreditAccount: a, Invoice: invoiceOfChange(id), Reason: "waived", At: h.at()}},
		{billing.PayOut{CreditAccount: a, Amount: amount, Reference: h.uuid().String(), Reason: "asked for", At: h.at()}},
		{billing.ReverseBooking{CreditAccount: a, Booking: id, Reason: "wrong", At: h.at()}},
	}[h.chance.IntN(4)]
}

func invoiceOfChange(order uuid.UUID) uuid.UUID { return uuid.NewSHA1(order, []byte("change")) }

// operation is something that happens to one, or comes of a comparison.
func (h *history) operation() domain.Command {
	id, ref := h.uuid(), h.ref()
	switch h.chance.IntN(10) {
	case 0, 1:
		return hosting.QueueOperation{
			ID: id, Kind: hosting.InstallCMS, Tenant: h.id(), User: h.id(),
			About: hosting.Ref{Kind: "site", ID: h.id()}, Install: &hosting.Installation{CMS: "drupal"},
		}
	case 2:
		tenant := h.id()
		return hosting.QueueOperation{
			ID: id, Kind: hosting.TenantSync, Tenant: tenant, About: hosting.Ref{Kind: "tenant", ID: tenant},
			Sync: &hosting.Sync{Repair: h.flip()},
		}
	case 3:
		return hosting.StartOperation{ID: id}
	case 4:
		return hosting.ProgressOperation{
			ID: id, Result: field.Values{"missing": text("1")}, Subject: h.uuid(),
			Personal: field.Values{"drift": text("Ana")},
		}
	case 5:
		return hosting.SucceedOperation{ID: id, Result: field.Values{"created": text("2")}}
	case 6:
		return hosting.FailOperation{ID: id, Code: "not_supported"}
	case 7:
		return hosting.Push{Ref: ref}
	case 8:
		if ref.Kind == "tenant" {
			return hosting.Adopt{Ref: ref, Spec: field.Values{"phone": text("+49"), "slug": text(fmt.Sprintf("slug-%d", h.id()))}}
		}
		return hosting.Adopt{Ref: ref, Spec: field.Values{"domain": text(h.site())}}
	default:
		return hosting.MarkSynced{Ref: ref}
	}
}

// news is what the provider may say of the order.
func (h *history) news(c order.Place) domain.Command {
	states := []order.PaymentState{order.StatePaid, order.StatePaid, order.StatePending, order.StateDeclined, order.StateFailed}
	sessions := []order.SessionState{order.SessionComplete, order.SessionOpen, order.SessionExpired}
	o := h.truth(
		c, sessions[h.chance.IntN(3)],
		order.Payment{ID: fmt.Sprintf("%s/%d", c.ID, h.chance.IntN(2)), State: states[h.chance.IntN(5)], Minor: 2870 - h.chance.Int64N(2)},
	)
	p := &o.Fetched.Payments[0]
	switch h.chance.IntN(4) {
	case 0:
		*p = order.Payment{}
		o.Fetched.Payments = nil
	case 1:
		state := []order.RefundState{order.RefundPending, order.RefundSucceeded, order.RefundStopped}[h.chance.IntN(3)]
		p.Refunds = []order.Refund{
			{
				ID: p.ID + "/refund", State: state, Minor: p.Minor / (1 + h.chance.Int64N(2)), Currency: p.Currency,
				Reference: order.Ask{N: 1}.Reference(c.ID),
			},
		}
	case 2:
		state := []order.DisputeState{order.DisputeOpen, order.DisputeWon, order.DisputeLost}[h.chance.IntN(3)]
		p.Disputes = []order.Dispute{{ID: p.ID + "/dispute", State: state, Minor: p.Minor / (1 + h.chance.Int64N(2)), Currency: p.Currency}}
	}
	o.TimeUp, o.NamesFree = h.flip(), h.flip()
	if c.Machine.Placement != nil {
		o.NeedsPlace, o.Placement = true, h.placement()
	}
	return o
}

// nodes is how many nodes and pools there are at most.
const nodes = 3

// placement is a place that may be full, or another's.
func (h *history) placement() *compute.Placement {
	node := 1 + h.chance.IntN(nodes)
	block := netip.MustParsePrefix(fmt.Sprintf("192.0.2.%d/32", h.id()))
	return &compute.Placement{
		Node: fmt.Sprint("n", node), Why: "chance", Size: h.size(),
		Addresses: []compute.Address{{Pool: fmt.Sprint("p", node), Block: block, Address: block}},
	}
}

func (h *history) size() compute.Size {
	return compute.Size{Cores: h.chance.Int64N(4), MemoryMB: h.chance.Int64N(4096), DiskGB: h.chance.Int64N(40)}
}

// machine is something that happens to a machine, or to nodes and pools.
func (h *history) machine() domain.Command {
	vm, n := hosting.Ref{Kind: machineKind.Name, ID: h.id()}, 1+h.chance.Int64N(nodes)
	node, pool := hosting.Ref{Kind: hosting.NodeKind, ID: n}, hosting.Ref{Kind: hosting.PoolKind, ID: n}
	of := h.uuid()
	if len(h.orders) > 0 {
		of = h.orders[h.chance.IntN(len(h.orders))].ID
	}
	switch h.chance.IntN(8) {
	case 0:
		return hosting.Request{Ref: node, Spec: values(&hosting.Node{Name: fmt.Sprint("n", n), Cores: 12, MemoryMB: 12288, DiskGB: 120})}
	case 1:
		return hosting.Request{Ref: pool, Spec: values(&hosting.AddressPool{Name: fmt.Sprint("p", n), Network: "192.0.2.0/24"})}
	case 2: // the others stay, so that machines have places
		return hosting.Remove{Ref: hosting.Ref{Kind: hosting.NodeKind, ID: 1}}
	case 3:
		return hosting.Remove{Ref: hosting.Ref{Kind: hosting.PoolKind, ID: 1}}
	case 4:
		return order.ResizePlace{ID: of, Size: h.size(), At: h.at()}
	case 5:
		return hosting.Remove{Ref: vm}
	case 6:
		return hosting.Confirm{Ref: vm}
	}
	m := hosting.NewMachine(vm.ID, of.String())
	return hosting.Request{Ref: vm, Tenant: h.id(), Spec: values(m), For: "order:" + of.String()}
}

func (h *history) resource() domain.Command {
	ref := h.ref()
	switch h.chance.IntN(7) {
	case 0, 1:
		switch ref.Kind {
		case "tenant":
			c := tenant(ref.ID, "Ana", fmt.Sprintf("slug-%d", h.id()))
			c.Subject = h.uuid()
			return c
		case "dns_zone":
			return zone(ref.ID, fmt.Sprintf("zone%d.example.com.", ref.ID))
		case "dns_record":
			c := record(ref.ID, []string{"A", "CNAME"}[h.chance.IntN(2)], h.site(), "a")
			c.Spec["zone"] = fmt.Append(nil, h.id())
			return c
		}
		forOrder := ""
		if len(h.orders) > 0 && h.flip() {
			forOrder = "order:" + h.orders[h.chance.IntN(len(h.orders))].ID.String()
		}
		return site(ref.ID, h.id(), h.site(), forOrder)
	case 2, 3:
		spec := field.Values{"domain": text(h.site())}
		switch ref.Kind {
		case "tenant":
			spec = field.Values{"slug": text(fmt.Sprintf("slug-%d", h.id())), "phone": text("+34")}
		case "dns_zone":
			spec = field.Values{"ns_primary": text("ns2.example.")}
		case "dns_record":
			spec = field.Values{"name": text(h.site()), "record_type": text("CNAME")}
		}
		return hosting.Change{Ref: ref, Spec: spec}
	case 4:
		return hosting.Remove{Ref: ref}
	case 5:
		return hosting.Decline{Ref: ref, Code: "name_taken", Version: h.chance.IntN(4)}
	default:
		return hosting.Confirm{
			Ref: ref, EngineID: h.chance.Int64N(3), Version: h.chance.IntN(4),
			Observed: field.Values{"document_root": text("/var/www")},
		}
	}
}

func text(s string) json.RawMessage { return fmt.Appendf(nil, "%q", s) }

func (h *history) account() domain.Command {
	user, tenant := h.id(), h.id()
	switch h.chance.IntN(14) {
	case 0, 1:
		c := open(user, fmt.Sprintf("user%d@example.com", h.id()))
		c.SubjectID, c.Superuser = h.uuid(), h.flip()
		return c
	case 2, 3:
		return account.GrantMembership{User: user, Tenant: tenant, Role: account.Admin, At: h.at()}
	case 4:
		return account.RevokeMembership{User: user, Tenant: tenant, At: h.at()}
	case 5:
		return account.ChangePassword{User: user, At: h.at()}
	case 6:
		return account.Deactivate{User: user, At: h.at()}
	case 7:
		return account.Reactivate{User: user, At: h.at()}
	case 8:
		return account.ChangeProfile{
			User: user, SubjectID: h.uuid(), Email: fmt.Sprintf("user%d@example.com", h.id()), Name: "Eva",
			Language: "en", At: h.at(),
		}
	case 9:
		return account.GrantSuperuser{User: user, At: h.at()}
	case 10:
		return account.RevokeSuperuser{User: user, At: h.at()}
	case 11:
		return account.EndSessions{User: user, At: h.at()}
	case 12:
		return account.RequestLink{User: user, Link: account.Reset, At: h.at()}
	default:
		return account.NoteSignIn{User: user, SubjectID: h.uuid(), IP: "192.0.2.7", Through: account.ThroughPage, At: h.at()}
	}
}

func (h *history) shop() domain.Command {
	id := h.id()
	name, key := fmt.Sprintf("%016d", id), fmt.Sprintf("%08d", id)
	switch h.chance.IntN(9) {
	case 0:
		return offer(
			id, []string{"hosting", "vps", "saas"}[id%3], fmt.Sprint("Plan ", h.id()),
			fmt.Sprintf("%d.%04d", id, h.chance.IntN(9999)),
		)
	case 1:
		return change(id, "price", fmt.Sprintf(`"%d.5"`, h.id()))
	case 2:
		return storefront.WithdrawPlan{Plan: id + 10, At: h.at()}
	case 3:
		return form(id, name, storefront.Widget{Plans: []int64{h.id(), h.id()}})
	case 4:
		return storefront.ChangeWidget{Widget: id, Spec: field.Values{"is_active": json.RawMessage(fmt.Sprint(h.flip()))}, At: h.at()}
	case 5:
		return storefront.RemoveWidget{Widget: id + 10, At: h.at()}
	case 6:
		return issue(key)
	case 7:
		return storefront.ChangeKey{ID: key, Spec: field.Values{"rate_limit_per_minute": json.RawMessage(fmt.Sprint(h.id()))}, At: h.at()}
	default:
		return storefront.RevokeKey{ID: key, At: h.at()}
	}
}

func (h *history) incident() domain.Command {
	trouble := desk.Trouble{Kind: desk.WebhookParked, Subject: fmt.Sprint(h.id()), About: map[string]string{"webhook": fmt.Sprint(h.id())}}
	if h.flip() {
		return trouble.Settle("replayed", h.at())
	}
	return trouble.Report(h.at())
}

func (h *history) notice() domain.Command {
	id := h.uuid()
	switch h.chance.IntN(8) {
	case 7:
		return notice.GiveUpMail{ID: id, Code: "switched_off", At: h.at()}
	case 6:
		return notice.MarkAllRead{User: h.id(), Through: h.at()}
	case 0, 1:
		return notice.Raise{
			ID: id, InApp: h.chance.IntN(4) > 0, Mail: h.flip(), User: h.id(),
			Text: notice.Text{Type: notice.Info, Title: "News", URL: "/"}, At: h.at(),
		}
	case 2:
		return notice.MarkRead{ID: id, At: h.at()}
	case 3:
		return notice.Unread{ID: id}
	case 4:
		return notice.SetPreferences{User: h.id(), Values: field.Values{"email_on_invoice": json.RawMessage(fmt.Sprint(h.flip()))}}
	default:
		return notice.ConfirmMail{ID: id, At: h.at()}
	}
}
