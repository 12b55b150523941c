package billing_test

import (
	"net/http"
	"testing"

	"hostpanel/paneltest"
)

// A user reads what the active tenant is billed, and a superuser what all are.
func TestATenantReadsItsInvoicesAlone(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	own, _ := s.Billed(t, 1)
	other, _ := s.Billed(t, 2)
	for _, list := range []string{"subscriptions/", "invoices/", "credit-notes/"} {
		for user, count := range map[string]int64{"ben": 1, "eve": 0, "root": 2} {
			var page struct{ Count int64 }
			paneltest.Decode(t, s.Call(http.MethodGet, "/billing/api/v1/"+list, "", paneltest.Bearer(s.Known[user])...),
				http.StatusOK, &page)
			if page.Count != count {
				t.Errorf("%s sees %d of %s instead of %d", user, page.Count, list, count)
			}
		}
	}
	for path, status := range map[string]int{
		"invoices/" + own.String(): http.StatusOK, "invoices/" + other.String(): http.StatusNotFound,
		"subscriptions/" + own.String(): http.StatusOK, "subscriptions/" + other.String(): http.StatusNotFound,
	} {
		if w := s.Call(http.MethodGet, "/billing/api/v1/"+path+"/", "",
			paneltest.Bearer(s.Known["ben"])...); w.Code != status {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}
