package http

import (
	"hostpanel/http/caller"
	"hostpanel/http/route"
)

// servedInPast are the routes, by name, that a view of the past serves to all callers:
// what a sign-in needs, and what shows nothing of the panel. Of the routes that change
// something, it serves these alone.
var servedInPast = map[string]bool{
	"start": true, "login_page": true, "login": true, "logout": true,
	"token_obtain": true, "token_refresh": true, "token_verify": true, "token_blacklist": true,
	"healthz": true, "readyz": true, "metrics": true,
	"schema": true, "schema_page": true, "schema_style": true, "schema_script": true,
	"style": true, "copy_script": true, "live_script": true,
}

// past makes the server a view of the past, for superusers; nil: it shows the present.
func (s *Server) past() *route.Past {
	if s.AsOf.IsZero() {
		return nil
	}
	return &route.Past{
		At: s.AsOf, Serves: servedInPast,
		Admits: func(c route.Caller) bool { return caller.IdentityOf(c).IsSuperuser },
	}
}
