package http_test

import (
	"context"
	"net/http"
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
