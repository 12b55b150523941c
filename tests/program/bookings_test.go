//go:build system

package program_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/tests/processtest"
)

// A transfer that is booked twice is one payment. What is wrong is named, and books nothing.
func TestATransferIsBookedFromTheCommandLine(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	r := h.Start()
	d := h.Demo()
	sell(r, d, "en", "ana@customer.example", "ana.example")
	var invoices []struct {
		Number string
		Tenant int64
	}
	if err := json.Unmarshal([]byte(h.Must("invoices", "list", "--json")), &invoices); err != nil || len(invoices) != 1 {
		t.Fatal(err, invoices)
	}
	book := func(reference string, more ...string) []string {
		return append([]string{"invoices", "book", invoices[0].Number, "--reference", reference}, more...)
	}
	for range 2 {
		if said := h.Must(book("statement 8", "--amount", "5.00", "--received", "2026-01-31")...); !strings.Contains(said,
			"5.00 is booked") {
			t.Errorf("it says %s", said)
		}
	}
	for wrong, args := range map[string][]string{
		"amount":          book("statement 9", "--amount", "0"),
		`"five" is no`:    book("statement 9", "--amount", "five"),
		"received_on":     book("statement 9", "--amount", "5.00", "--received", "2999-01-01"),
		"reference":       book(" ", "--amount", "5.00"),
		`"soon" is not a`: book("statement 9", "--amount", "5.00", "--received", "soon"),
	} {
		if _, complaint, code := h.Command(args...); code == console.Done || !strings.Contains(complaint, wrong) {
			t.Errorf("%v ended with %d and %s", args, code, complaint)
		}
	}
	h.Must("export", "--out", filepath.Join(h.Dir, "log.jsonl"))
	log, err := os.ReadFile(filepath.Join(h.Dir, "log.jsonl"))
	if booked := strings.Count(string(log), "billing.payment_booked"); err != nil || booked != 1 {
		t.Errorf("%d payments are booked, %v", booked, err)
	}
	r.Stop()
}
