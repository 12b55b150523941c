package test_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/adapters/payments/test"
	"hostpanel/domain"
	"hostpanel/domain/order"
)

func body(kind, session, reference string, amount int64, currency, status, payment string) []byte {
	return fmt.Appendf(nil, `{"id":"evt_1","type":%q,"data":{"object":{"id":%q,"client_reference_id":%q,`+
		`"amount_total":%d,"currency":%q,"payment_status":%q,"payment_id":%q}}}`,
		kind, session, reference, amount, currency, status, payment)
}

func signedBy(value ...string) map[string][]string { return map[string][]string{test.Header: value} }

func TestAWebhookCountsOnlyWithAGoodSignature(t *testing.T) { // F-8, I-4
	now := time.Unix(1_800_000_000, 0)
	former := []byte("the former secret")
	p := test.New(nil, test.Options{Secret: secret, Former: [][]byte{former}})
	raw := body("checkout.session.completed", "cs_test_1", uuid.Nil.String(), 1, "eur", "paid", "")
	good := test.Sign(secret, raw, now)
	at, sum, _ := strings.Cut(good, ",")
	for name, c := range map[string]struct {
		header map[string][]string
		good   bool
	}{
		"good":                      {signedBy(good), true},
		"wrong v1 before the right": {signedBy(at + ",v1=" + strings.Repeat("0", 64) + "," + sum), true},
		"spaces, other schemes":     {signedBy(at + ", v0=abc, " + sum), true},
		"former secret":             {signedBy(test.Sign(former, raw, now)), true},
		"300 s old":                 {signedBy(test.Sign(secret, raw, now.Add(-300*time.Second))), true},
		"300 s ahead":               {signedBy(test.Sign(secret, raw, now.Add(300*time.Second))), true},
		"301 s old":                 {signedBy(test.Sign(secret, raw, now.Add(-301*time.Second))), false},
		"301 s ahead":               {signedBy(test.Sign(secret, raw, now.Add(301*time.Second))), false},
		"other secret":              {signedBy(test.Sign([]byte("other"), raw, now)), false},
		"other body":                {signedBy(test.Sign(secret, append(raw, ' '), now)), false},
		"missing":                   {nil, false},
		"two headers":               {signedBy(good, good), false},
		"two times":                 {signedBy(at + "," + good), false},
		"no time":                   {signedBy(sum), false},
		"no sum":                    {signedBy(at), false},
		"sum cut short":             {signedBy(good[:len(good)-2]), false},
		"time no number":            {signedBy("t=1e9," + sum), false},
		"time beyond all bounds":    {signedBy("t=99999999999999999999," + sum), false},
		"empty":                     {signedBy(""), false},
	} {
		n, err := p.Verify(raw, c.header, now)
		if c.good && (err != nil || n.EventID != "evt_1" || !strings.HasPrefix(n.VerifiedBy, "secret ")) {
			t.Errorf("%s: %+v, %v", name, n, err)
		}
		if e := new(domain.Error); !c.good && (!errors.As(err, &e) || e.Code != domain.Invalid || e.Message != "Invalid signature.") {
			t.Errorf("%s: %+v, %v", name, n, err)
		}
	}
}

func TestWithoutASecretNothingCanBeVerified(t *testing.T) { // I-3
	_, err := test.New(nil, test.Options{}).Verify([]byte("{}"), nil, time.Now())
	if e := new(domain.Error); !errors.As(err, &e) || e.Code != domain.Unavailable || e.Reason != "provider_not_configured" {
		t.Error(err)
	}
}

func TestOnlyReferencesAreReadFromAVerifiedEvent(t *testing.T) {
	now, id := time.Unix(1_800_000_000, 0), uuid.New()
	p := test.New(nil, test.Options{Secret: secret})
	verify := func(raw []byte) (order.News, error) { return p.Verify(raw, signedBy(test.Sign(secret, raw, now)), now) }

	n, err := verify(body("checkout.session.completed", "cs_test_1", id.String(), 3509, "eur", "paid", "pay_test_1"))
	want := order.News{
		EventID: "evt_1", Type: "checkout.session.completed", ObjectRef: "cs_test_1", Order: id, Payment: "pay_test_1",
		VerifiedBy: "secret 1", Handled: true,
	}
	if err != nil || n != want {
		t.Errorf("%+v, %v", n, err)
	}
	n, err = verify([]byte(`{"id":"evt_2","type":"customer.created","data":{"object":{"id":"cus_1","more":[1]}}}`))
	if err != nil || n.Handled || n.EventID != "evt_2" || n.Order != uuid.Nil {
		t.Errorf("a foreign type: %+v, %v", n, err)
	}
	for _, broken := range []string{
		``, `null`, `[]`, `{}`, `{"id":"evt_1"}`, `{"id":"","type":"x"}`, `{"id":"evt 1","type":"x"}`, `{"id":"evt_1","type":"x"} {}`,
		`{"id":"evt_1","type":"checkout.session.completed"}`,
		string(body("checkout.session.completed", "cs_test_1", "", -1, "eur", "paid", "")),
		string(body("checkout.session.completed", "cs_test_1", "", 1, "euro", "paid", "")),
		string(body("checkout.session.completed", "cs_test_1", "", 1, "eur", "perhaps", "")),
		strings.Replace(string(body("checkout.session.completed", "cs_test_1", "", 1, "eur", "paid", "")), `:1,`, `:1.5,`, 1),
	} {
		if n, err := verify([]byte(broken)); domain.CodeOf(err) != domain.Invalid {
			t.Errorf("%s: %+v, %v", broken, n, err)
		}
	}
}

func apply(t *testing.T, p *test.Provider, raw []byte) {
	t.Helper()
	if err := p.Apply(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
}

// The receiver of webhooks finds out by this method that the books have to hear
// of them first.
var _ interface {
	Apply(ctx context.Context, raw []byte) error
} = (*test.Provider)(nil)

func TestASignedEventFromOutsideChangesTheBooksFirst(t *testing.T) {
	p, _, id, session := opened(t)
	event := body("checkout.session.completed", session, id.String(), 3509, "eur", "paid", "")
	apply(t, p, event)
	apply(t, p, event)
	wantBooks(t, p, session, order.SessionComplete, paid(3509, "EUR"))
	apply(t, p, body("checkout.session.completed", session, id.String(), 1, "usd", "paid", ""))
	wantBooks(t, p, session, order.SessionComplete, paid(3509, "EUR")) // what is paid stays as it was paid
}

func TestASecondPaymentIsBookedBesideTheFirst(t *testing.T) {
	p, _, id, session := opened(t)
	apply(t, p, body("checkout.session.completed", session, id.String(), 3509, "eur", "paid", "pay_a"))
	apply(t, p, body("checkout.session.completed", session, id.String(), 3509, "eur", "paid", "pay_b"))
	one, other := paid(3509, "EUR"), paid(3509, "EUR")
	one.ID, other.ID = "pay_a", "pay_b"
	wantBooks(t, p, session, order.SessionComplete, one, other)
}

func TestAWrongAmountAndAWrongOrderStandInTheBooks(t *testing.T) {
	p, _, _, session := opened(t)
	other := uuid.New()
	apply(t, p, body("checkout.session.completed", session, other.String(), 3510, "usd", "paid", ""))
	wantBooks(t, p, session, order.SessionComplete, paid(3510, "USD"))
	if f := fetch(t, p, session); f.Order != other {
		t.Errorf("the books name order %s", f.Order)
	}
}

func TestEventsThatMeanNothingChangeNothing(t *testing.T) {
	p, _, id, session := opened(t)
	apply(t, p, body("checkout.session.completed", session, id.String(), 3509, "eur", "unpaid", ""))
	apply(t, p, body("checkout.session.completed", "cs_test_foreign", id.String(), 3509, "eur", "paid", ""))
	apply(t, p, body("invoice.paid", session, id.String(), 3509, "eur", "paid", ""))
	wantBooks(t, p, session, order.SessionOpen)
	apply(t, p, body("checkout.session.expired", session, id.String(), 3509, "eur", "unpaid", ""))
	wantBooks(t, p, session, order.SessionExpired)
	apply(t, p, body("checkout.session.completed", session, id.String(), 3509, "eur", "paid", "")) // late, and yet paid
	apply(t, p, body("checkout.session.expired", session, id.String(), 3509, "eur", "unpaid", ""))
	apply(t, p, body("refund.created", session, id.String(), 3509, "eur", "paid", ""))
	wantBooks(t, p, session, order.SessionComplete, paid(3509, "EUR"))
	if err := p.Apply(t.Context(), []byte(`{`)); domain.CodeOf(err) != domain.Invalid {
		t.Errorf("half an event: %v", err)
	}
}
