package http_test

import (
	"encoding/csv"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
)

// The books of a month have each document once, in the order of issue, with what was
// credited below zero. What customers have written is no formula.
func TestTheBooksOfAMonthHaveEachDocumentOnce(t *testing.T) {
	t.Parallel()
	s := openShop(t).people(t)
	service, _ := s.billed(t, 1)
	s.billed(t, 2)
	s.owes(t, 1, service)
	s.do(t, billing.Issue{
		ID: uuid.New(), Order: service, Tenant: 1, SubjectID: uuid.New(), Name: "=HYPERLINK(\"http://evil.example\")", Email: "ana@example.com", Company: "+cmd",
		Lines: []billing.Line{{Text: "Start", Total: price("12.10")}}, Total: price("12.10"), Subtotal: price("10"), Tax: price("2.10"), TaxRate: price("21"), Currency: "EUR", At: billedAt,
	})
	w := s.call(http.MethodGet, billingAPI+"books/?month=2026-01", "", bearer(s.known["root"])...)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/csv; charset=utf-8" || !strings.Contains(w.Header().Get("Content-Disposition"), `"books-2026-01.csv"`) {
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
	if w := s.call(http.MethodGet, billingAPI+"books/", "", bearer(s.known["ana"])...); w.Code != http.StatusForbidden {
		t.Errorf("a customer reads the books: %d", w.Code)
	}
}
