//go:build system

package program_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"hostpanel/adapters/payments/paypal"
	"hostpanel/adapters/payments/paypal/paypaltest"
	"hostpanel/adapters/payments/test"
	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/cmd/hostpanel/redact"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/domain"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/tests/processtest"
)

// A shop is the demo, served in this process, with a PayPal of its own. Whom
// it trusts for PayPal's certificates is handed to it in Go: no setting can.
type shop struct {
	*testing.T
	*program.Program
	there *paypaltest.PayPal
	base  string
	key   string
	plan  int64
	log   *processtest.SafeBuffer
	stop  func() // before the test ends
}

func openShop(t *testing.T) *shop {
	t.Helper()
	there := paypaltest.Start()
	t.Cleanup(there.Close)
	return openShopAt(t, there, eventstoretest.URL(t), t.TempDir())
}

// openShopAt serves a database beside a PayPal that may know more than it.
func openShopAt(t *testing.T, there *paypaltest.PayPal, url, dir string) *shop {
	t.Helper()
	s := &shop{T: t, there: there, log: &processtest.SafeBuffer{}}
	cfg, err := config.New(config.Settings{
		DatabaseURL: url, DataDir: dir, Listen: "127.0.0.1:0", SecretKey: programtest.SecretKey,
		WebhookNetworks: "127.0.0.0/8",
		Payments: kong.Plugins{&test.Settings{}, &paypal.Settings{
			ClientID: paypaltest.ClientID, ClientSecret: paypaltest.ClientSecret, WebhookID: paypaltest.WebhookID,
			APIURL: s.there.URL,
			Roots:  s.there.Roots(), Dial: s.there.Dial,
		}},
	}, true)
	if err != nil {
		t.Fatal(err)
	}
	if s.Program, err = program.Open(t.Context(), cfg, redact.NewLog(s.log, slog.LevelDebug),
		program.Serving); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.Store.Attach(eventstoretest.Caused())
	s.serveUntilTheEnd()
	d := processtest.Home{T: t, Dir: cfg.DataDir}.Demo()
	s.base, s.key, s.plan = d.BaseURL, d.APIKey, d.Plans.VPS
	return s
}

func (s *shop) serveUntilTheEnd() {
	s.Helper()
	ctx, stop := context.WithCancel(context.Background())
	listener, err := serve.Listen(ctx, s.Program)
	if err == nil {
		err = serve.SetUp(ctx, s.Program, console.Console{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}})
	}
	if err != nil {
		stop()
		s.Fatal(err)
	}
	var group errgroup.Group
	group.Go(func() error {
		return serve.Serve(ctx, s.Program, listener, console.Console{Out: &bytes.Buffer{}, Err: &bytes.Buffer{}})
	})
	s.stop = sync.OnceFunc(func() {
		stop()
		if err := group.Wait(); err != nil {
			s.Error(err)
		}
	})
	s.Cleanup(s.stop)
}

func (s *shop) ask(want int, method, url, body string, headers ...string) processtest.Answer {
	s.Helper()
	a, err := processtest.Call(s.Context(), method, url, body, headers...)
	if err != nil || a.Status != want {
		s.Fatalf("%s %s: status %d instead of %d, %v: %s\n%s", method, url, a.Status, want, err, a.Body, s.log)
	}
	return a
}

func (s *shop) wish(email string) string {
	return fmt.Sprintf(`{"plan_id":%d,"customer_email":%q,"customer_name":"Ana Example","payment_method":"paypal"}`,
		s.plan, email)
}

// order places an order that is to be paid at PayPal.
func (s *shop) order(email string) (id, page string) {
	s.Helper()
	a := s.ask(201, "POST", s.base+"/storefront/api/orders/", s.wish(email), "X-API-Key", s.key, "Content-Type",
		processtest.AsJSON)
	return a.Field(s.T, "order_id"), a.Field(s.T, "payment_url")
}

func (s *shop) becomes(id, status string) {
	s.Helper()
	processtest.Eventually(s.T, "order "+id+" is "+status+"\n"+s.log.String(),
		func() bool { return s.status(id) == status })
}

func (s *shop) status(id string) string {
	s.Helper()
	return s.ask(200, "GET", s.base+"/storefront/api/orders/"+id+"/", "", "X-API-Key", s.key).Field(s.T, "status")
}

func (s *shop) webhooks() string { return s.base + "/storefront/webhooks/paypal/" }

func (s *shop) tell(w paypaltest.Webhook) int {
	s.Helper()
	status, err := w.Send(s.Context(), processtest.Client, s.webhooks())
	if err != nil {
		s.Fatal(err)
	}
	return status
}

// T5, T7, P-2, P-8, F-3, J-1.
func TestAnOrderIsPaidThroughPayPal(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	id, page := s.order("ana@customer.example")
	s.ask(303, "POST", page, "action=approve", "Content-Type", processtest.AsForm)
	approved := s.there.Take()[0]
	for range 20 {
		if status := s.tell(s.there.Again(approved)); status != 200 {
			t.Fatalf("the news were answered with %d", status)
		}
	}
	s.becomes(id, "active")
	for _, told := range s.there.Take() {
		if status := s.tell(told); status != 200 {
			t.Errorf("%s: %d", told.Type, status)
		}
	}

	unheard, page := s.order("bo@customer.example")
	s.there.Lose(true)
	s.there.Break(paypaltest.Fault{Call: "capture", What: paypaltest.ResetAfter})
	s.ask(303, "POST", page, "action=approve", "Content-Type", processtest.AsForm)
	a, err := processtest.Call(t.Context(), "GET", s.base+"/storefront/return/"+unheard+"/?outcome=success", "")
	if err != nil || a.Status >= 400 {
		t.Errorf("the return page: %d %v", a.Status, err)
	}
	s.becomes(unheard, "active")
	if n := s.there.Done("capture", ""); n != 2 {
		t.Errorf("%d captures for two orders", n)
	}
	processtest.KeepsSecrets(t, s.log.String(), paypaltest.ClientSecret, "A21AATOKEN", "customer-canary",
		"ana@customer.example")
	s.givesBack(id, unheard)
}

// givesBack refunds one order in full by an operator, whose first call gets no
// answer, and sees that of another on PayPal's own pages.
func (s *shop) givesBack(ours, theirs string) {
	s.Helper()
	s.there.Lose(false)
	s.there.Break(paypaltest.Fault{Call: "refund", What: paypaltest.FailAfter})
	cause := domain.Metadata{ID: uuid.New(), Actor: "operator:1", Correlation: uuid.MustParse(ours)}
	if err := s.Sagas.Payments.Refund(s.Context(), cause, uuid.MustParse(ours), nil, "for the test"); err != nil {
		s.Fatal(err)
	}
	o, found := s.there.OrderOf(theirs)
	if !found {
		s.Fatal("PayPal has no such order")
	}
	s.there.GiveBack(o.ID, o.Amount.Value)
	for _, told := range s.there.Take() {
		s.tell(told)
	}
	s.becomes(theirs, "refunded")
	s.becomes(ours, "refunded")
	if n := s.there.Done("refund", ""); n != 1 {
		s.Errorf("%d refunds", n)
	}
}

// P-6, P-7, F-9.
func TestNewsThatAreForgedChangeNothing(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	id, _ := s.order("eve@customer.example")
	o, found := s.there.OrderOf(id)
	if !found {
		t.Fatal("PayPal has no such order")
	}
	genuine := s.there.Tell("CHECKOUT.ORDER.SAVED", map[string]string{"id": o.ID})
	body, err := json.Marshal(map[string]any{
		"id": "WH-FORGED", "event_type": "PAYMENT.CAPTURE.COMPLETED", "summary": paypaltest.ForgeHere,
		"resource": map[string]any{
			"id": "CAPFORGED", "status": "COMPLETED", "custom_id": id, "amount": o.Amount,
			"supplementary_data": map[string]any{"related_ids": map[string]string{"order_id": o.ID}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	looks := s.there.Calls("get")
	forged := paypaltest.Webhook{
		Type: "PAYMENT.CAPTURE.COMPLETED", Raw: paypaltest.Forge(genuine.Raw, body),
		Header: genuine.Header,
	}
	if status := s.tell(forged); status != 200 {
		t.Fatalf("a forged body is answered with %d", status)
	}
	processtest.Eventually(t, "the order was looked at", func() bool { return s.there.Calls("get") > looks })
	if status := s.status(id); status != "payment_processing" || s.there.Done("capture", "") != 0 {
		t.Errorf("the order is %s after %d captures", status, s.there.Done("capture", ""))
	}
	if status := s.tell(genuine); status != http.StatusBadRequest {
		t.Errorf("the transmission came with another event, and was answered with %d", status)
	}
	if !strings.Contains(s.log.String(), "a transmission came with another event") {
		t.Errorf("no user was told:\n%s", s.log)
	}
	if status := s.tell(forged); status != 200 {
		t.Errorf("the same again: %d", status)
	}
}
