package billing_test

import (
	"encoding/csv"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/paneltest"
)

// The books of a month have each document once, in the order of issue, with what was
// credited below zero. What customers have written is no formula.
func TestTheBooksOfAMonthHaveEachDocumentOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	service, _ := s.Billed(t, 1)
	s.Billed(t, 2)
	s.Owes(t, 1, service)
	s.Do(t, billing.Issue{
		ID: uuid.New(), Order: service, Tenant: 1, SubjectID: uuid.New(), Name: "=HYPERLINK(\"http://evil.example\")",
		Email: "ana@example.com", Company: "+cmd",
		Lines: []billing.Line{{Text: "Start", Total: paneltest.Price("12.10")}}, Total: paneltest.Price("12.10"),
		Subtotal: paneltest.Price("10"), Tax: paneltest.Price("2.10"), TaxRate: paneltest.Price("21"), Currency: "EUR",
		At: paneltest.BilledAt,
	})
	w := s.Call(http.MethodGet, billingAPI+"books/?month=2026-01", "", paneltest.Bearer(s.Known["root"])...)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/csv; charset=utf-8" ||
		!strings.Contains(w.Header().Get("Content-Disposition"), `"books-2026-01.csv"`) {
		t.Fatalf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	rows, err := csv.NewReader(w.Body).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) (cells []string) {
		i := slices.Index(rows[0], name)
		for _, row := range rows[1:] {
			cells = append(cells, row[i])
		}
		return cells
	}
	for name, want := range map[string]string{
		"number":           "CN-2026-000001 CN-2026-000002 INV-2026-000001 INV-2026-000002 INV-2026-000003",
		"of_invoice":       "INV-2026-000001 INV-2026-000002   ",
		"total":            "-12.10 -12.10 24.20 24.20 12.10",
		"tax":              "-2.10 -2.10 4.20 4.20 2.10",
		"customer_company": "Ruiz SL Ruiz SL Ruiz SL Ruiz SL '+cmd",
	} {
		if got := strings.Join(column(name), " "); got != want {
			t.Errorf("%s: %q instead of %q", name, got, want)
		}
	}
	if name := column("customer_name")[4]; !strings.HasPrefix(name, "'=") {
		t.Errorf("a formula: %s", name)
	}
	if w := s.Call(http.MethodGet, billingAPI+"books/", "",
		paneltest.Bearer(s.Known["ana"])...); w.Code != http.StatusForbidden {
		t.Errorf("a customer reads the books: %d", w.Code)
	}
}
