package operations_test

import (
	"context"
	"net/http"
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
