package http_test

import (
	"net/http"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/http/route/routetest"
)

// house is a shop with people, in which numbers of new records begin at 101.
func house(t testing.TB) *shop {
	t.Helper()
	s := openShop(t).people(t)
	s.do(t, account.GrantMembership{User: eve, Tenant: 3, Role: account.Admin, At: time.Now()})
	if _, err := s.owner.Exec(t.Context(), `select setval(n, 100) from unnest(array['package_id', 'whitelabel_id']::regclass[]) n`); err != nil {
		t.Fatal(err)
	}
	return s
}

// What tenants do with what runs for them, as one would with curl.
func TestHostingConversations(t *testing.T) {
	routetest.Run(t, "testdata/hosting/*.http", func(t *testing.T) (http.Handler, routetest.Known) {
		s := house(t)
		return s.handler, s.known
	})
}
