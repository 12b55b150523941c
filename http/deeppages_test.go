package http_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hostpanel/paneltest"
)

// A listPage is a page of a list, as far as links are concerned.
type listPage struct {
	Count          int
	Next, Previous string
	Results        []struct{ ID string }
}

// Links that lead far into a list name the record beside the page. Those near its
// beginning, and those of a list in another order, do not.
func TestLinksFarIntoAListNameTheRecordBesideThePage(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	if _, err := s.Owner.Exec(t.Context(), `insert into notifications (id, user_id, notification_type, title, message, url, metadata,
			unread_since, created_at, updated_at, version)
		select gen_random_uuid(), $1, 'info', '', '', '', '{}', at, at, at, 1
		from generate_series(1, 1250) n, lateral (select now() - n * interval '1s' as at) moment`, paneltest.Ben); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Owner.Exec(t.Context(), `insert into inboxes (user_id, total, unread) values ($1, 1250, 1250) on `+
		`conflict (user_id) do update set total = 1250`, paneltest.Ben); err != nil {
		t.Fatal(err)
	}
	get := func(link string) (page listPage) {
		t.Helper()
		w := s.Call("GET", link, "", paneltest.Bearer(s.Token(t, paneltest.Ben, nil))...)
		if err := json.Unmarshal(w.Body.Bytes(), &page); w.Code != http.StatusOK || err != nil {
			t.Fatalf("%s: %d %s", link, w.Code, w.Body)
		}
		return page
	}
	walk := func(from string, on func(listPage) string) (ids, marks []string) {
		for link := from; link != ""; {
			page := get(link)
			for _, one := range page.Results {
				ids = append(ids, one.ID)
			}
			if link = on(page); strings.Contains(link, "after=") || strings.Contains(link, "before=") {
				marks = append(marks, link)
			}
			if page.Count != 1250 {
				t.Fatalf("%s: %d", link, page.Count)
			}
		}
		return ids, marks
	}
	const list = "/notifications/api/v1/notifications/?page_size=100"
	forward, marked := walk(list, func(p listPage) string { return p.Next })
	if len(forward) != 1250 || len(marked) != 3 || !strings.Contains(marked[0], "after="+forward[999]+"&page=11&") {
		t.Errorf("%d records, links %v", len(forward), marked)
	}
	back, marked := walk(list+"&page=last", func(p listPage) string { return p.Previous })
	if len(marked) != 2 || !strings.Contains(marked[0], "before="+forward[1200]+"&page=12&") {
		t.Errorf("links back %v", marked)
	}
	slices.Sort(back)
	if sorted := slices.Sorted(slices.Values(forward)); !slices.Equal(back, sorted) {
		t.Errorf("%d records backwards are not the %d forward", len(back), len(forward))
	}
	if _, marked := walk(list+"&ordering=created_at", func(p listPage) string { return p.Next }); marked != nil {
		t.Errorf("links of a list in another order: %v", marked)
	}
	if page := get(list + "&page=12&after=no-id"); page.Results[0].ID != forward[1100] {
		t.Errorf("beside no record: %v", page.Results[0])
	}
}
