package paneltest

import (
	"strconv"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
)

// Organisation makes one, of which users are members.
func (s *Shop) Organisation(t testing.TB, id int64, name string, members ...int64) {
	t.Helper()
	spec := &hosting.Tenant{Name: name, Email: "office@example.com", Slug: "t" + strconv.FormatInt(id, 10), Language: "es", Status: "active", IsActive: true}
	s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: id}, Tenant: id, Spec: spec.Fields().Values()})
	for _, user := range members {
		s.Do(t, account.GrantMembership{User: user, Tenant: id, Role: account.Admin, At: time.Now()})
	}
}
