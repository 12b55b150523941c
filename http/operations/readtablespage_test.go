package operations_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	operation "hostpanel/domain/operations"
	counter "hostpanel/http/operations"
	"hostpanel/paneltest"
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
	s := paneltest.Office(t, func(s *paneltest.Shop) { s.Server.Watch = haltedWatch{s.Server.Watch} }).Start(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	s.Resident(t, 902, "es"+paneltest.OpMail, "es", true)
	if _, err := s.Owner.Exec(t.Context(), `update projections set status = 'failed', position = 1 where name = 'incidents'`); err != nil {
		t.Fatal(err)
	}
	s.Until(t, "the reactions have begun to read", func() bool {
		return s.Count(t, `select count(*) from readers where name = 'sagas.reactions' and position > 0`) == 1
	})
	answer := s.Operate("GET", "read-tables/", "").Body.String()
	paneltest.Has(t, answer, `{"name":"orders","status":"live",`, `{"name":"incidents","status":"failed","position":1,`,
		`{"name":"sagas.reactions",`, `{"name":"halted","position":3,"events_behind":4711,"is_stuck":true}`)

	const page = "/storefront/read-tables/"
	for language, c := range map[string]struct{ mail, live, failed, stands string }{
		"en": {paneltest.OpMail, "up to date", "failed", "stands still"},
		"es": {"es" + paneltest.OpMail, "al día", "fallida", "parado"},
	} {
		b := s.Browser(t).Enter(c.mail)
		text := b.Get(page).Body.String()
		b.IsForEverybody(t, language, text)
		paneltest.Has(t, text, `<code>orders</code></h3><span class="badge active">`+c.live,
			`<code>incidents</code></h3><span class="badge failed">`+c.failed,
			`<code>sagas.reactions</code>`, `<code>halted</code></h3><span class="badge failed">`+c.stands, "4711")
	}
	if w := s.Visiting(t, paneltest.Ana).Get(page); w.Code != http.StatusForbidden {
		t.Errorf("no operator: %d", w.Code)
	}
}

// An operator has a read table built anew, in the browser or by a call, and is told how far
// that is and which rows were wrong. Both ways lead to one operation.
func TestAnOperatorHasAReadTableBuiltAnew(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	if _, err := s.Owner.Exec(t.Context(), `
		insert into saga_queue (queue, max_in_flight, paused) values ('rebuild', 1, true);
		update users set language = 'es' where id = 4`); err != nil {
		t.Fatal(err)
	}
	s.Start(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	s.Resident(t, 902, "es"+paneltest.OpMail, "es", true)
	const page, path = "/storefront/read-tables/", "/operations/api/v1/projections/users/rebuild/"
	b := s.Browser(t).Enter(paneltest.OpMail)
	b.Get(page)
	paneltest.Goes(t, b.Send("users"), page)
	shown := b.Get(page).Body.String()
	b.IsForEverybody(t, "en", shown)
	paneltest.Has(t, shown, "The table is being built anew.", `Last rebuild: <span class="badge pending">waiting</span>`)
	if paneltest.Has(t, shown, `<li id="table-users" data-every="2">`); strings.Count(shown, "data-every") != 1 {
		t.Error("what is not being built anew is looked at again and again")
	}
	if strings.Contains(shown, `name="of" value="users"`) {
		t.Error("a table that is being built anew can be asked for again")
	}

	id := paneltest.Queued(t, s.Call("POST", path, "", paneltest.Bearer(s.Known["root"])...))
	if again := paneltest.Queued(t, s.Call("POST", path, "", paneltest.Bearer(s.Known["root"])...)); again != id ||
		s.Count(t, `select count(*) from operations where projection = 'users'`) != 1 {
		t.Errorf("the second request is operation %s, not %s", again, id)
	}
	for who, code := range map[string]int{"ana": http.StatusForbidden, "eve": http.StatusForbidden} {
		for _, w := range []*httptest.ResponseRecorder{
			s.Call("POST", path, "", paneltest.Bearer(s.Known[who])...),
			s.Call("POST", strings.Replace(path, "users", "nothing", 1), "", paneltest.Bearer(s.Known[who])...),
		} {
			if w.Code != code {
				t.Errorf("%s: %d %s", who, w.Code, w.Body)
			}
		}
	}
	if w := s.Call("POST", strings.Replace(path, "users", "nothing", 1), "",
		paneltest.Bearer(s.Known["root"])...); w.Code != http.StatusNotFound {
		t.Errorf("a table that there is not: %d %s", w.Code, w.Body)
	}
	if _, err := s.Owner.Exec(t.Context(), `update saga_queue set paused = false where queue = 'rebuild'`); err != nil {
		t.Fatal(err)
	}
	done := s.Done(t, id, "root")
	if got := fmt.Sprint(done.Status, done.Error, done.Result["projection"], done.Result["different"],
		done.Result["differences"]); got != "succeededusers1 [map[columns:[language] key:4 table:users what:changed]]" {
		t.Error(got)
	}
	if s.Count(t, `select count(*) from users where id = 4 and language = 'en'`) != 1 {
		t.Error("the table is not what the log says")
	}
	for language, c := range map[string]struct{ mail, state, different, row string }{
		"en": {paneltest.OpMail, "built anew", "rows that differed: 1", "users 4: changed (language)"},
		"es": {"es" + paneltest.OpMail, "reconstruida", "filas que diferían: 1", "users 4: cambiada (language)"},
	} {
		b := s.Browser(t).Enter(c.mail)
		text := b.Get(page).Body.String()
		b.IsForEverybody(t, language, text)
		if strings.Contains(text, "data-every") {
			t.Error("the page does not come to rest")
		}
		paneltest.Has(t, text, `<span class="badge active">`+c.state, c.different, c.row, `name="of" value="users"`)
	}
	if w := b.Send("plans", "of", "nothing"); w.Code != http.StatusBadRequest {
		t.Errorf("a form about nothing: %d", w.Code)
	}
}
