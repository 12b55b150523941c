package http_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	operation "hostpanel/domain/operations"
	counter "hostpanel/http/operations"
)

// haltedWatch has a reader that does not move any more.
type haltedWatch struct{ counter.Watch }

func (w haltedWatch) Readers(ctx context.Context) ([]operation.LogReader, error) {
	all, err := w.Watch.Readers(ctx)
	return append(all, operation.LogReader{Name: "halted", Position: 3, Behind: 4711, IsStuck: true}), err
}

// An operator sees how far each read table and each reader is, and which stands still.
func TestAnOperatorSeesTheReadTablesInTheBrowser(t *testing.T) {
	t.Parallel()
	s := office(t, func(s *shop) { s.server.Watch = haltedWatch{s.server.Watch} }).open(t)
	s.resident(t, 901, opMail, "en", true)
	s.resident(t, 902, "es"+opMail, "es", true)
	if _, err := s.owner.Exec(t.Context(), `update projections set status = 'failed', position = 1 where name = 'incidents'`); err != nil {
		t.Fatal(err)
	}
	s.until(t, "the reactions have begun to read", func() bool {
		return s.count(t, `select count(*) from readers where name = 'sagas.reactions' and position > 0`) == 1
	})
	answer := s.operate("GET", "read-tables/", "").Body.String()
	has(t, answer, `{"name":"orders","status":"live",`, `{"name":"incidents","status":"failed","position":1,`, `{"name":"sagas.reactions",`, `{"name":"halted","position":3,"events_behind":4711,"is_stuck":true}`)

	const page = "/storefront/read-tables/"
	for language, c := range map[string]struct{ mail, live, failed, stands string }{
		"en": {opMail, "up to date", "failed", "stands still"}, "es": {"es" + opMail, "al día", "fallida", "parado"},
	} {
		b := s.browser(t).enter(c.mail)
		text := b.get(page).Body.String()
		b.isForEverybody(t, language, text)
		has(t, text, `<code>orders</code></h3><span class="badge active">`+c.live, `<code>incidents</code></h3><span class="badge failed">`+c.failed,
			`<code>sagas.reactions</code>`, `<code>halted</code></h3><span class="badge failed">`+c.stands, "4711")
	}
	if w := s.visiting(t, ana).get(page); w.Code != http.StatusForbidden {
		t.Errorf("no operator: %d", w.Code)
	}
}

// An operator has a read table built anew, in the browser or by a call, and is told how far
// that is and which rows were wrong. Both ways lead to one operation.
func TestAnOperatorHasAReadTableBuiltAnew(t *testing.T) {
	t.Parallel()
	s := office(t)
	if _, err := s.owner.Exec(t.Context(), `
		insert into saga_queue (queue, max_in_flight, paused) values ('rebuild', 1, true);
		update users set language = 'es' where id = 4`); err != nil {
		t.Fatal(err)
	}
	s.open(t)
	s.resident(t, 901, opMail, "en", true)
	s.resident(t, 902, "es"+opMail, "es", true)
	const page, path = "/storefront/read-tables/", "/operations/api/v1/projections/users/rebuild/"
	b := s.browser(t).enter(opMail)
	b.get(page)
	goes(t, b.send("users"), page)
	shown := b.get(page).Body.String()
	b.isForEverybody(t, "en", shown)
	has(t, shown, "The table is being built anew.", `Last rebuild: <span class="badge pending">waiting</span>`)
	if has(t, shown, `<li id="table-users" data-every="2">`); strings.Count(shown, "data-every") != 1 {
		t.Error("what is not being built anew is looked at again and again")
	}
	if strings.Contains(shown, `name="of" value="users"`) {
		t.Error("a table that is being built anew can be asked for again")
	}

	id := queued(t, s.call("POST", path, "", bearer(s.known["root"])...))
	if again := queued(t, s.call("POST", path, "", bearer(s.known["root"])...)); again != id || s.count(t, `select count(*) from operations where projection = 'users'`) != 1 {
		t.Errorf("the second request is operation %s, not %s", again, id)
	}
	for who, code := range map[string]int{"ana": http.StatusForbidden, "eve": http.StatusForbidden} {
		for _, w := range []*httptest.ResponseRecorder{s.call("POST", path, "", bearer(s.known[who])...), s.call("POST", strings.Replace(path, "users", "nothing", 1), "", bearer(s.known[who])...)} {
			if w.Code != code {
				t.Errorf("%s: %d %s", who, w.Code, w.Body)
			}
		}
	}
	if w := s.call("POST", strings.Replace(path, "users", "nothing", 1), "", bearer(s.known["root"])...); w.Code != http.StatusNotFound {
		t.Errorf("a table that there is not: %d %s", w.Code, w.Body)
	}
	if _, err := s.owner.Exec(t.Context(), `update saga_queue set paused = false where queue = 'rebuild'`); err != nil {
		t.Fatal(err)
	}
	done := s.done(t, id, "root")
	if got := fmt.Sprint(done.Status, done.Error, done.Result["projection"], done.Result["different"], done.Result["differences"]); got != "succeededusers1 [map[columns:[language] key:4 table:users what:changed]]" {
		t.Error(got)
	}
	if s.count(t, `select count(*) from users where id = 4 and language = 'en'`) != 1 {
		t.Error("the table is not what the log says")
	}
	for language, c := range map[string]struct{ mail, state, different, row string }{
		"en": {opMail, "built anew", "rows that differed: 1", "users 4: changed (language)"},
		"es": {"es" + opMail, "reconstruida", "filas que diferían: 1", "users 4: cambiada (language)"},
	} {
		b := s.browser(t).enter(c.mail)
		text := b.get(page).Body.String()
		b.isForEverybody(t, language, text)
		if strings.Contains(text, "data-every") {
			t.Error("the page does not come to rest")
		}
		has(t, text, `<span class="badge active">`+c.state, c.different, c.row, `name="of" value="users"`)
	}
	if w := b.send("plans", "of", "nothing"); w.Code != http.StatusBadRequest {
		t.Errorf("a form about nothing: %d", w.Code)
	}
}
