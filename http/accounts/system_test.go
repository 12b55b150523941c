//go:build system

package accounts_test

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/paneltest"
)

// Each of the six hundred calls counts once, also those that start again because
// the caller's rights have changed.
func TestSixHundredCallsAreCountedOnceOverTwoProcesses(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.Guarded).People(t)
	processes := []http.Handler{process(s), process(s)}
	paths := []string{itsTenant, "/hosting/api/rest/tenants/", "/api/me/", "/hosting/api/rest/tenants/99/"}
	var left []int
	refused := 0
	for i, w := range s.AtOnce(700, func(i int) *httptest.ResponseRecorder {
		if i%70 == 0 {
			s.Do(t, account.GrantMembership{User: paneltest.Ana, Tenant: int64(100 + i), Role: account.Member, At: time.Now()})
		}
		if i%7 == 0 { // writing calls read the caller from the database first
			return s.Call("TRACE", paths[i%4&^1], "", paneltest.Bearer(s.Known["ana"])...)
		}
		return reads(processes[i%2], paths[i%4], s.Known["ana"])
	}) {
		n, err := strconv.Atoi(w.Header().Get("X-RateLimit-Remaining"))
		switch {
		case err != nil:
			t.Errorf("call %d: %d without a limit: %s", i, w.Code, w.Body)
		case w.Code == http.StatusTooManyRequests:
			refused++
		default:
			left = append(left, n)
		}
	}
	slices.Sort(left)
	for i := range left {
		if left[i] != i {
			t.Fatalf("%d calls left at the %d-th: %v", left[i], i, left)
		}
	}
	if len(left) != 600 || refused != 100 {
		t.Fatalf("%d were answered, %d refused", len(left), refused)
	}
}
