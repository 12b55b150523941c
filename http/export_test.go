package http

import (
	"hostpanel/http/route"
)

// Rules are the access rules for those who have signed in, by their names.
func (s *Server) Rules() map[string]route.Access {
	all := map[string]route.Access{}
	for _, a := range []route.Access{
		s.callers().User(), s.callers().Writing(), s.callers().TenantAdmin(),
		s.callers().Superuser(),
	} {
		all[a.Rule] = a
	}
	return all
}
