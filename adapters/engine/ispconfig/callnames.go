package ispconfig

import "net/http"

// CallOf names the function that a request of this package calls, to a proxy
// before the engine; "" is one of sessions.
func CallOf(r *http.Request) string {
	if r.URL.RawQuery == "login" || r.URL.RawQuery == "logout" {
		return ""
	}
	return r.URL.RawQuery
}

var verbs = map[string]string{"create": "_add", "change": "_update", "remove": "_delete"}

// Writes are the functions by which a kind is created, changed or removed.
func Writes(call, kind string) (functions []string) {
	r, err := resourceOf(kind)
	if err != nil {
		return nil
	}
	for _, stem := range r.stems {
		functions = append(functions, stem+verbs[call])
	}
	if call == "change" && r == &sites {
		functions = append(functions, "sites_web_domain_set_status")
	}
	return functions
}
