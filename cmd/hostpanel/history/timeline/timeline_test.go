package timeline

import (
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

func ExamplePrint() {
	id := uuid.MustParse("6f1c8f0e-0c5e-4a53-9b0a-3d1f7c1f2a10")
	at := time.Date(2026, 11, 21, 14, 30, 0, 120e6, time.UTC)
	stream := order.Stream(id)
	happened := func(version int, after time.Duration, actor string, e domain.Event) eventstore.RecordedEvent {
		at = at.Add(after)
		return eventstore.RecordedEvent{
			Stream: stream, Version: version, RecordedAt: at,
			Metadata: domain.Metadata{Actor: actor}, Name: e.EventName(), Event: e,
		}
	}
	Print(console.Console{Out: os.Stdout}, stream, []eventstore.RecordedEvent{
		happened(1, 0, "api_key:ab12CD34", order.Placed{
			Name: "Ana", Number: "ORD-20261121-7F3K9Q", Plan: order.Plan{Name: "Web S"}, BillingPeriod: "yearly",
			Total: decimal.RequireFromString("28.7"), Currency: "EUR", Domain: "ana.example",
		}),
		happened(2, 44*time.Millisecond, "system:checkout", order.PaymentSessionOpened{
			URL:       "https://pay.example/cs_1",
			ExpiresAt: at.Add(30 * time.Minute),
		}),
		happened(3, 67*time.Second, "provider:test", order.PaymentConfirmed{Payment: order.Seen{
			ID: "pay_1", Minor: 2870,
			Currency: "EUR",
		}}),
		happened(4, 49*time.Hour, "system:provision", order.ProvisioningParked{Step: "site", Code: "name_taken"}),
	})
	// Output:
	// order-6f1c8f0e-0c5e-4a53-9b0a-3d1f7c1f2a10 · 4 events
	//
	// when (UTC)                 after  v  what                                                                        who
	// 2026-11-21 14:30:00.120           1  Ana orders Web S, yearly, for 28.70 EUR: ORD-20261121-7F3K9Q (ana.example)  api_key:ab12CD34
	// 2026-11-21 14:30:00.164    +44ms  2  can be paid until 2026-11-21 15:00 UTC                                      system:checkout
	// 2026-11-21 14:31:07.164  +1m 07s  3  28.70 EUR arrived, payment pay_1                                            provider:test
	// 2026-11-23 15:31:07.164   +2d 1h  4  setup stopped at site: name taken                                           system:provision
}

func TestSecretsAreNotShownEvenIfTheyStoodInTheLog(t *testing.T) {
	got := string(DataOf(leak{
		Password: "hush", Note: "sfk_test_ab12CD34_abcdefghijklmnopqrstuvwxyz012345_0aBcDe",
		Deep: []map[string]string{{"token": "hush"}},
	}))
	want := `{"deep":[{"token":"***"}],"note":"sfk_test_ab12CD34_***","password":"***"}`
	if got != want {
		t.Errorf("%s instead of %s", got, want)
	}
}

type leak struct {
	Password string              `json:"password"`
	Note     string              `json:"note"`
	Deep     []map[string]string `json:"deep"`
}

func (leak) EventName() string { return "test.leak" }
func (leak) Says() string      { return "a leak" }
