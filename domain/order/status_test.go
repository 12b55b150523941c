package order

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"hostpanel/domain"
	"hostpanel/domain/texts"
)

// life is the life of an order as a picture.
func life() string {
	lines := []string{"stateDiagram-v2", "  [*] --> " + string(next[""][0])}
	for _, from := range Statuses {
		for _, to := range next[from] {
			lines = append(lines, fmt.Sprintf("  %s --> %s", from, to))
		}
		if len(next[from]) == 0 {
			lines = append(lines, fmt.Sprintf("  %s --> [*]", from))
		}
	}
	return strings.Join(lines, "\n")
}

func TestTheDocumentsShowTheLifeOfAnOrder(t *testing.T) {
	document, err := os.ReadFile("../../docs/orders.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(document), "```mermaid\n"+life()+"\n```\n") {
		t.Errorf("docs/orders.md does not have this picture:\n%s", life())
	}
}

// Paste it where Mermaid is drawn.
func Example_life() {
	fmt.Println(life())
	// Output:
	// stateDiagram-v2
	//   [*] --> pending
	//   pending --> payment_processing
	//   pending --> cancelled
	//   payment_processing --> paid
	//   payment_processing --> cancelled
	//   payment_processing --> refunded
	//   paid --> provisioning
	//   paid --> refunded
	//   paid --> cancelled
	//   provisioning --> active
	//   provisioning --> failed
	//   provisioning --> refunded
	//   provisioning --> cancelled
	//   failed --> provisioning
	//   failed --> refunded
	//   failed --> cancelled
	//   active --> refunded
	//   active --> cancelled
	//   cancelled --> paid
	//   cancelled --> refunded
	//   refunded --> [*]
}

func TestEveryStatusHasItsMoves(t *testing.T) {
	if len(next) != len(Statuses)+1 {
		t.Errorf("%d statuses have moves", len(next))
	}
	for from, list := range next {
		for _, to := range list {
			if !slices.Contains(Statuses, to) || slices.Contains(next[to], "") {
				t.Errorf("%s moves on to %q", from, to)
			}
		}
	}
}

// commands are all that may be asked of an order, with everything that may be
// told of it.
func commands(id uuid.UUID, at time.Time) []Command {
	list := []Command{
		OpenSession{ID: id, Session: Session{ID: "cs_1", URL: "https://h/1", ExpiresAt: at.Add(time.Hour)}, Host: "h", At: at},
		FailSession{ID: id, At: at},
		Expire{ID: id, At: at},
		StartProvisioning{ID: id, At: at},
		Park{ID: id, Step: "site", At: at},
		Resume{ID: id, Step: "site", How: Retry, Reason: "because", At: at},
		Activate{ID: id, At: at},
		DelayMail{ID: id, At: at},
		ConfirmMail{ID: id, At: at},
		GiveUpMail{ID: id, At: at},
	}
	for _, state := range []SessionState{SessionOpen, SessionApproved, SessionComplete, SessionExpired} {
		for payment := range rank {
			for _, minor := range []int64{100, 101} {
				for _, timeUp := range []bool{false, true} {
					o := Observe{
						ID: id, At: at, TimeUp: timeUp, PlanStillOffered: minor == 100, NamesFree: true,
						Fetched: Fetched{
							Provider: "stripe", Session: "cs_1", Order: id, State: state, Live: true,
							Payments: []Payment{{ID: "p" + string(payment[:1]), State: payment, Minor: minor, Currency: "EUR"}},
						},
					}
					list = append(list, o, Cancel{ID: id, By: ByAdmin, Observe: o, At: at})
				}
			}
		}
	}
	return list
}

// V7: whatever is asked in whatever state, the status only ever moves along
// the table, and what is refused says so in a way that callers understand.
func TestTheStatusOnlyMovesAlongTheTable(t *testing.T) {
	id, at := uuid.MustParse("6f1c0d6e-0000-4000-8000-000000000001"), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	all := commands(id, at)
	rapid.Check(t, func(t *rapid.T) {
		o := Placed{Order: id, Provider: "stripe", Minor: 100, Currency: "EUR", At: at}.evolve(Order{})
		if status := rapid.SampledFrom(Statuses).Draw(t, "status"); status != StatusPending {
			o.Status, o.Session = status, "cs_1"
		}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			o = step(t, o, rapid.SampledFrom(all).Draw(t, "command"))
		}
	})
}

func step(t *rapid.T, o Order, c Command) Order {
	facts, err := c.decide(o)
	if code := domain.CodeOf(err); err != nil && code != domain.Conflict && code != domain.Unavailable {
		t.Fatalf("%T in %s: %v", c, o.Status, err)
	}
	for _, e := range facts {
		after := e.evolve(o)
		if after.Status != o.Status && !slices.Contains(next[o.Status], after.Status) {
			t.Fatalf("%s moves on to %s by %T", o.Status, after.Status, e)
		}
		o = after
	}
	return o
}

// What an older state was stays what it was, however the order goes on.
func TestStatesDoNotShareTheirSets(t *testing.T) {
	before := Order{
		Holds: []Hold{OperatorHold}, Payments: map[string]Seen{"a": {}}, Ignored: map[string]bool{"x": true},
		Warnings: []Warning{MailWarning},
	}
	PaymentMismatchFound{Payment: Seen{ID: "b", State: StatePaid}}.evolve(before)
	ProviderEventIgnored{News: "y"}.evolve(before)
	WelcomeMailSent{}.evolve(before)
	if len(before.Holds) != 1 || len(before.Payments) != 1 || len(before.Ignored) != 1 || len(before.Warnings) != 1 {
		t.Errorf("%+v", before)
	}
}

func TestAMessageExistsForEverySubjectInBothLanguages(t *testing.T) {
	for _, language := range texts.Languages() {
		messages, steps := texts.Part(language, "orders.message"), texts.Part(language, "orders.step")
		for _, s := range Statuses {
			if messages[string(s)] == "" {
				t.Errorf("no message for %s", s)
			}
		}
		if len(messages) != len(Statuses)+3 {
			t.Errorf("%d messages", len(messages))
		}
		for name, text := range steps {
			if strings.Contains(text, ".") {
				t.Errorf("step %s is %q", name, text)
			}
		}
	}
}

func ExampleMessage() {
	parked := Standing{Status: StatusFailed, Step: "tenant.engine"}
	fmt.Println(Message(parked, "en"))
	fmt.Println(Message(Standing{Status: StatusFailed, Step: "site"}, "es"))
	fmt.Println(Message(Standing{Status: StatusProvisioning, Step: "billing"}, "de"))
	fmt.Println(Message(Standing{Status: StatusProvisioning}, "es-MX"))
	fmt.Println(Message(Standing{Status: StatusProvisioning, Step: "from.the.future"}, "en"))
	fmt.Println(Message(Standing{Status: StatusPaymentProcessing}, "en"))
	fmt.Println(Message(Standing{Status: StatusPaymentProcessing, Settling: true}, "en"))
	fmt.Println(Message(Standing{Status: StatusPaymentProcessing, OnHold: true, Settling: true}, "en"))
	fmt.Println(Message(Standing{Status: StatusFailed, OnHold: true, CancelRequested: true}, "en"))
	fmt.Println(Message(Standing{Status: StatusRefunded, OnHold: true, CancelRequested: true}, "en"))
	// Output:
	// Setup was interrupted at: your space on the server. Our team has been informed; you do not need to pay again.
	// La puesta en marcha se interrumpió en este paso: su sitio web. Nuestro equipo ya está avisado; no tiene que volver a pagar.
	// Your order is being set up: your invoice.
	// Estamos preparando su pedido: su cuenta de usuario.
	// Your order is being set up: further steps.
	// Waiting for payment.
	// Waiting for your bank.
	// Your payment is being checked by our team.
	// The order is being cancelled.
	// The payment was refunded.
}
