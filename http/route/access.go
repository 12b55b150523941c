package route

import (
	"context"
	"net/http"
	"net/netip"
	"slices"

	"hostpanel/domain"
)

// An Access rule says who may call a route. Its questions are asked in this
// order, before anything of the call is looked at but its path.
type Access struct {
	Rule      string         // its name in lists of routes: "open", "user", "superuser"
	Scheme    string         // name of the security scheme in the API document; "": no credentials
	Security  map[string]any // the scheme in the API document
	Instead   []Credential   // that do as well as those of the scheme, all of them together
	Challenge string         // WWW-Authenticate of its 401s
	OfTenant  bool           // what it admits to is done in the name of the active tenant

	// Identify tells who calls, or refuses with 401.
	Identify func(context.Context, Request) (Caller, error)
	// Admit refuses callers with 403: role, active tenant, origin. nil: no caller.
	Admit func(context.Context, Request, Caller) error
	// Fits tells callers of the role that the rule asks for, without a trace;
	// nil: all of them are.
	Fits func(Caller) bool
	// Limit counts the call and tells what is left. nil, or a limit without a
	// name: there is none.
	Limit func(context.Context, Request, Caller) (Limit, error)
}

// A Credential is a security scheme in the API document.
type Credential struct {
	Scheme   string
	Security map[string]any
	OfWrites bool // needed by methods that change something only
}

// A Request is what an access rule sees of a call.
type Request struct {
	*http.Request
	IP    netip.Addr // of the client, behind trusted proxies
	ID    string     // X-Request-ID
	Route string     // path as the API document has it: "/sites/{id}/"
	Fresh bool       // the caller has to be looked up
}

// A Caller is who calls.
type Caller struct {
	Principal string   // "user:12", "api_key:ab12CD34"; "": the caller is unknown
	Actor     string   // as causes name them, such as "operator:1"; "": the principal
	Tenant    int64    // in whose name the caller acts, for the access log; 0: none
	Origins   []string // from which browsers may call (docs/api.md, "CORS"); empty: from everywhere
	PerMinute int      // calls
	Detail    any      // what the access rule knows of the caller besides

	// Settle makes sure of a caller who was not looked up for this call but
	// remembered, and tells what the call leaves of their limit. It is asked
	// before anything is answered or refused; if it says no, the call starts
	// again with [Request].Fresh. Only calls that change nothing may have it:
	// their handlers run before it is asked. nil: the caller was looked up.
	Settle func(context.Context) (Limit, bool)
}

// A Limit is what is left of a caller's quota, and what the quota is called:
// "key", "user".
type Limit struct {
	Name string
	domain.Quota
}

// Open routes need no credentials.
var Open = Access{
	Rule:     "open",
	Identify: func(context.Context, Request) (Caller, error) { return Caller{}, nil },
}

// As names the rule.
func (a Access) As(rule string) Access { a.Rule = rule; return a }

// Requiring adds a condition to the rule, asked last among its 403s.
func (a Access) Requiring(admit func(context.Context, Request, Caller) error) Access {
	first := a.Admit
	a.Admit = func(ctx context.Context, r Request, c Caller) error {
		if first != nil {
			if err := first(ctx, r, c); err != nil {
				return err
			}
		}
		return admit(ctx, r, c)
	}
	return a
}

// describe adds the security schemes of the rule to those of the API document.
func (a Access) describe(schemes map[string]any) {
	if a.Scheme != "" {
		schemes[a.Scheme] = a.Security
	}
	for _, c := range a.Instead {
		schemes[c.Scheme] = c.Security
	}
}

// requirements are the credentials that a method needs: those of the scheme, or
// those that do instead.
func (a Access) requirements(method string) []any {
	all := []any{map[string]any{a.Scheme: []string{}}}
	instead := map[string]any{}
	for _, c := range a.Instead {
		if !c.OfWrites || !isSafe(method) {
			instead[c.Scheme] = []string{}
		}
	}
	if len(instead) > 0 {
		all = append(all, instead)
	}
	return all
}

// isForged tells whether the method may be refused because another site could
// have made the call.
func (a Access) isForged(method string) bool {
	return !isSafe(method) && slices.ContainsFunc(a.Instead, func(c Credential) bool { return c.OfWrites })
}
