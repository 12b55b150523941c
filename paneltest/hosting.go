package paneltest

import (
	"testing"
	"time"

	"hostpanel/domain/account"
)

// House is a shop with people, in which numbers of new records begin at 101.
func House(t testing.TB) *Shop {
	t.Helper()
	s := Open(t).People(t)
	s.Do(t, account.GrantMembership{User: Eve, Tenant: 3, Role: account.Admin, At: time.Now()})
	if _, err := s.Owner.Exec(t.Context(), `select setval(n, 100) from unnest(array['package_id', 'whitelabel_id', 'tenant_id']::regclass[]) n`); err != nil {
		t.Fatal(err)
	}
	return s
}
