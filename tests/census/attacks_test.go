//go:build system

package census_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hostpanel/domain/field"
	"hostpanel/http/route"
	"hostpanel/paneltest"
)

// writes returns all routes that accept a record, for existing objects.
func (c *census) writes(t *testing.T) map[string]route.Route {
	found := map[string]route.Route{}
	for _, r := range c.routes() {
		if r.Request.Fields == nil || len(r.Request.Fields()) == 0 {
			continue
		}
		for _, what := range []string{ofNobody, existing, ofA} {
			if path, named := c.paths(t, r.Path)[what]; named {
				found[r.Method+" "+path] = r
			}
		}
	}
	if len(found) < 15 {
		t.Fatalf("only %d routes take a record", len(found))
	}
	return found
}

// permitted returns the headers of a caller who may make the call.
func (c *census) permitted(path string) []string {
	if strings.HasPrefix(path, "/storefront/api/") {
		return c.credentials["storefront key"]
	}
	if paneltest.IsOfSessions(http.MethodPost, path) {
		return c.credentials["superuser in a browser"]
	}
	return c.credentials["superuser"]
}

func TestBodiesThatAreReadInTwoWaysAreReadInNone(t *testing.T) {
	t.Parallel()
	c := takeCensus(t)
	before := c.Count(t, `select count(*) from events`)
	for call, r := range c.writes(t) {
		method, path, _ := strings.Cut(call, " ")
		name := r.Request.Fields()[0].Name
		for attack, a := range map[string]struct {
			body string
			want int
			says string
		}{
			"a key twice":          {fmt.Sprintf(`{%q:"a",%q:"b"}`, name, name), 400, "Duplicate key"},
			"a key twice, escaped": {fmt.Sprintf(`{%q:"a","\u%04x%s":"b"}`, name, name[0], name[1:]), 400, "Duplicate key"},
			"a key twice, deep":    {`{"unknown":{"a":1,"a":2}}`, 400, "Duplicate key"},
			"no UTF-8":             {"{\"" + name + "\":\"\xff\"}", 400, "'utf-8' codec can't decode byte 0xff"},
			"an overlong slash":    {"{\"" + name + "\":\"\xc0\xaf\"}", 400, "'utf-8' codec can't decode byte 0xc0"},
			"33 levels": {
				`{"unknown":` + strings.Repeat("[", 33) + strings.Repeat("]", 33) + `}`, 400,
				"Nesting too deep",
			},
			"ten thousand levels": {strings.Repeat("[", 10_000), 400, "Nesting too deep"},
			"more than 1 MiB":     {`{"unknown":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "Request body too large."},
			"two bodies":          {`{} {}`, 400, "Extra data"},
			"not a number":        {`{"unknown":NaN}`, 400, "Out of range float values"},
			"a comment":           {`{} // fine`, 400, "Extra data"},
		} {
			w := c.Call(method, path, a.body, c.permitted(path)...)
			if w.Code != a.want || !strings.Contains(w.Body.String(), a.says) {
				t.Errorf("%s with %s: %d %.200s", call, attack, w.Code, w.Body)
			}
		}
	}
	if after := c.Count(t, `select count(*) from events`); after != before {
		t.Errorf("%d events were added", after-before)
	}
}

// Field names match exactly. Fields in another case, or with invisible characters, are ignored.
func TestOtherSpellingsOfAFieldAreOtherFields(t *testing.T) {
	t.Parallel()
	c := takeCensus(t)
	for call, r := range c.writes(t) {
		method, path, _ := strings.Cut(call, " ")
		if method != http.MethodPatch {
			continue
		}
		before := c.Call("GET", path, "", c.permitted(path)...).Body.String()
		sent := map[string]any{}
		for _, f := range r.Request.Fields() {
			sent[strings.ToUpper(f.Name)] = "evil"
			sent[f.Name+" "] = "evil"
			sent[f.Name+"\x00"] = "evil"
			sent[strings.ReplaceAll(f.Name, "s", "ſ")+"\u200b"] = "evil"
		}
		body, _ := json.Marshal(sent)
		w := c.Call(method, path, string(body), c.permitted(path)...)
		if after := c.Call("GET", path, "", c.permitted(path)...).Body.String(); w.Code != http.StatusOK || after != before {
			t.Errorf("%s: %d, %s became %s", call, w.Code, before, after)
		}
	}
}

// Read-only fields in a request are ignored.
func TestReadOnlyFieldsAreIgnored(t *testing.T) {
	t.Parallel()
	c := takeCensus(t)
	changed := 0
	for call, r := range c.writes(t) {
		method, path, _ := strings.Cut(call, " ")
		if method != http.MethodPatch || !c.isShown(path) {
			continue
		}
		who := c.permitted(path)
		before := paneltest.Answered[map[string]json.RawMessage](t, c.Call("GET", path, "", who...))
		sent := map[string]any{
			"is_superuser_": true, "session_version": 7, "tenant_id": tenantB, "owner_id": 1, "hash": "x", "version": 99,
			"subject": "x", "actor": "system:evil",
		}
		for name, value := range before {
			if !writable(r.Request.Fields(), name) {
				sent[name] = another(value)
				changed++
			}
		}
		recorded := c.Count(t, `select count(*) from events where name not like 'security.%'`)
		body, _ := json.Marshal(sent)
		if w := c.Call(method, path, string(body), who...); w.Code != http.StatusOK {
			t.Errorf("%s %s: %d %s", call, body, w.Code, w.Body)
		}
		after := paneltest.Answered[map[string]json.RawMessage](t, c.Call("GET", path, "", who...))
		if fmt.Sprint(after) != fmt.Sprint(before) ||
			c.Count(t, `select count(*) from events where name not like 'security.%'`) != recorded {
			t.Errorf("%s %s: %s became %s", call, body, before, after)
		}
	}
	if changed < 15 {
		t.Errorf("only %d fields were tried", changed)
	}
}

// A member cannot become a superuser or join a tenant through the request body.
func TestMembersCannotRaiseTheirOwnRights(t *testing.T) {
	t.Parallel()
	c := takeCensus(t)
	me := c.credentials["member of A"]
	before := c.Call("GET", "/api/me/", "", me...).Body.String()
	for _, body := range []string{
		`{"is_superuser":true}`, `{"memberships":[{"tenant":22,"role":"admin"}]}`, `{"role":"admin"}`, `{"id":1}`,
		`{"username":"root@example.com","email":"root@example.com"}`,
		`{"is_active":false}`, `{"password":"another good password"}`,
	} {
		if w := c.Call("PATCH", "/api/me/", body, me...); w.Code != http.StatusOK || w.Body.String() != before {
			t.Errorf("%s: %d %s", body, w.Code, w.Body)
		}
	}
	w := c.Call("PATCH", "/api/me/", `{"active_tenant":22}`, me...)
	if want := `{"active_tenant":["Invalid pk \"22\" - object does not exist."]}`; w.Code != http.StatusBadRequest ||
		w.Body.String() != want {
		t.Errorf("a foreign tenant: %d %s", w.Code, w.Body)
	}
	if w := c.Call("PATCH", "/api/me/", `{"active_tenant":999999}`,
		me...); w.Body.String() != `{"active_tenant":["Invalid pk \"999999\" - object does not exist."]}` {
		t.Errorf("no tenant: %d %s", w.Code, w.Body)
	}
	c.handTo(t, "tenant", me)
}

// handTo checks that filters never show records of other tenants.
func (c *census) handTo(t *testing.T, of string, who []string) {
	t.Helper()
	for _, query := range []string{
		"?tenant=22", "?id__in=22", "?id__in=21,22", "?search=B", "?slug=t22",
		"?ordering=tenant", "?id=22", "?id__in=22&page_size=100",
	} {
		w := c.Call("GET", "/hosting/api/rest/"+of+"s/"+query, "", who...)
		if w.Code == http.StatusOK && strings.Contains(w.Body.String(), `"id":22`) {
			t.Errorf("%s shows what belongs to others: %s", query, w.Body)
		}
	}
}

// isShown tells whether a GET of the path is allowed.
func (c *census) isShown(path string) bool {
	return c.Call("GET", path, "", c.permitted(path)...).Code == http.StatusOK
}

func writable(fields field.Set, name string) bool {
	for _, f := range fields {
		if f.Name == name && !f.IsReadOnly() {
			return true
		}
	}
	return false
}

// another returns a different value of the same type.
func another(value json.RawMessage) any {
	var v any
	_ = json.Unmarshal(value, &v)
	switch v := v.(type) {
	case float64:
		return v + 1
	case bool:
		return !v
	case []any:
		return append(v, 22)
	case string:
		return "2001-01-01T00:00:00Z"
	default:
		return 1
	}
}
