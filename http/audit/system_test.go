//go:build system

package audit_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/tlog"
	"hostpanel/http/web"
	"hostpanel/paneltest"
)

// What followed from an event is shown up to a bound, and the answer says so.
func TestAnAnswerSaysThatMoreHasFollowed(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	follow := func(from, to int) {
		t.Helper()
		var commands []domain.Command
		for i := from; i <= to; i++ {
			commands = append(commands, hosting.Request{
				Ref:  hosting.Ref{Kind: "package", ID: int64(100 + i)},
				Spec: (&hosting.Package{Name: fmt.Sprint(i), Slug: fmt.Sprintf("p%d", i)}).Fields().Values(),
			})
		}
		cause := domain.Origin{Cause: domain.EventCause(domain.StreamNamed("user-3"), 1), Correlation: uuid.New()}
		if _, err := s.Execute(cause.With(t.Context()), domain.Metadata{Actor: "test"}, commands...); err != nil {
			t.Fatal(err)
		}
		s.Indexed(t)
	}
	var first []lookedBack
	all := lookBack(t, s, "root", "streams/user-3/events/")
	for _, c := range []struct {
		from, to int
		cut      bool
	}{{1, 100, false}, {101, 700, true}} {
		follow(c.from, c.to)
		w := s.Call("GET", fmt.Sprintf("/audit/api/v1/events/%d/why/", all[0].Position), "",
			paneltest.Bearer(s.Known["root"])...)
		var why struct {
			Effects []lookedBack
			IsCut   bool `json:"is_cut"`
		}
		if err := json.Unmarshal(w.Body.Bytes(), &why); err != nil || (len(why.Effects) == 500) != c.cut ||
			why.IsCut != c.cut {
			t.Fatalf("%d: %v, %d effects, cut %t", c.to, err, len(why.Effects), why.IsCut)
		}
		if first == nil {
			first = why.Effects
		}
		if len(first) < 100 || !slices.Equal(positionsOf(first), positionsOf(why.Effects[:len(first)])) {
			t.Error("other effects than before")
		}
	}
}

// An observer fetches the tree of a log with its checkpoint, and computes the same root
// from the entries.
func TestAnObserverDerivesTheRootFromTheEntries(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	if w := s.Call("GET", "/audit/log/checkpoint", "", "Authorization",
		"Bearer "+s.Known["root"]); w.Code != http.StatusNotFound {
		t.Errorf("before the first seal: %d %s", w.Code, w.Body)
	}
	for i := range 300 {
		s.Do(t, hosting.Request{
			Ref:  hosting.Ref{Kind: "package", ID: int64(100 + i)},
			Spec: (&hosting.Package{Name: fmt.Sprint(i), Slug: fmt.Sprintf("p%d", i)}).Fields().Values(),
		})
	}
	o := s.Seal(t)
	get := func(path, media, cache string) string {
		t.Helper()
		w := s.Call("GET", "/audit/log/"+path, "", "Authorization", "Bearer "+s.Known["root"])
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != media || w.Header().Get("Cache-Control") != cache {
			t.Fatal(path, w.Code, w.Header(), w.Body)
		}
		return w.Body.String()
	}
	signed, err := tlog.OpenCheckpoint(get("checkpoint", "text/plain; charset=utf-8", "no-cache"), o.VKey)
	if err != nil || signed.Size < 300 || signed.Origin != "panel.example/audit/log" {
		t.Fatal(signed, err)
	}
	edge := &tlog.Edge{}
	for _, path := range tlog.TilesOf(signed.Size) {
		tile := get("tile/"+path.String(), "application/octet-stream", "private, max-age=31536000, immutable")
		if path.Level > 0 {
			continue
		}
		path.Level = tlog.EntriesLevel
		bundle := get("tile/"+path.String(), "application/octet-stream", "private, max-age=31536000, immutable")
		for i := range path.Width {
			entry := bundle[i*42 : i*42+42]
			hash := tlog.Leaf([]byte(entry[2:])).Hash()
			if entry[:2] != "\x00\x28" || string(hash[:]) != tile[i*32:i*32+32] {
				t.Fatalf("entry %d of %s is %x", i, path, entry)
			}
			edge.Add(hash)
		}
	}
	if root, err := edge.Root(); err != nil || root != signed.Root {
		t.Errorf("the root is %s, signed is %s, %v", root, signed.Root, err)
	}
	for _, missing := range []string{
		"tile/0/009", "tile/0/x001/000", "tile/0/000.p/0", "tile/00/000", "tile/entries/009",
		"tile/entries/1",
	} {
		if w := s.Call("GET", "/audit/log/"+missing, "", "Authorization",
			"Bearer "+s.Known["root"]); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", missing, w.Code)
		}
	}
}

// An operator asks for a pack on the page of an order, and finds it there.
func TestThePageOfAnOrderHasItsEvidencePacks(t *testing.T) {
	t.Parallel()
	s := paneltest.Desk(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	s.Seal(t)
	b := s.Browser(t).Enter(paneltest.OpMail)
	page := "/storefront/orders/" + s.Known["running"] + "/"
	paneltest.Has(t, b.Get(page).Body.String(), "Evidence pack")
	if w := b.Send("evidence"); w.Code != http.StatusSeeOther {
		t.Fatal(w.Code, w.Body)
	}
	text := b.Get(page).Body.String()
	b.IsForEverybody(t, "en", text)
	paneltest.Has(t, text, "Evidence packs", "A pack is kept for a day")
	id := ""
	if err := s.Owner.QueryRow(t.Context(), `select operation::text from evidence_packs`).Scan(&id); err != nil {
		t.Fatal(err)
	}
	if job := s.Done(t, id, "root"); job.Status != "succeeded" {
		t.Fatalf("%+v", job)
	}
	link := fmt.Sprintf("/audit/api/v1/packs/%s/evidence.zip", id)
	paneltest.Has(t, b.Get(page).Body.String(), `<a href="`+link+`">Fetch the file</a>`, "ready", " kB</p>")
	if w := b.Get(link); w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/zip" {
		t.Error(w.Code, w.Header())
	}
}

// A renewal has a deadline as its cause. The page leads to the event that has set it.
func TestADeadlineLeadsToTheEventThatHasSetIt(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	service, _ := s.Billed(t, 1)
	advance := billing.Advance{Order: service, Invoice: uuid.New(), Terms: billing.UsualTerms}
	sub, version, err := eventstore.Fold(t.Context(), s.Store, billing.Subscriptions, advance.Stream())
	if err != nil {
		t.Fatal(err)
	}
	advance.At = sub.NextAt
	cause := domain.DeadlineCause(advance.Stream(), version)
	if _, err := s.ExecuteWith(t.Context(), domain.Metadata{Actor: "system:billing", Cause: cause}, nil,
		advance); err != nil {
		t.Fatal(err)
	}
	page := web.SubscriptionsPath + service.String() + "/"
	for language, words := range map[string]string{"en": "deadline set by", "es": "plazo fijado por"} {
		s.Do(t, paneltest.Speaks(paneltest.Ana, language))
		b := s.Visiting(t, paneltest.Ana)
		text := b.Get(page).Body.String()
		b.IsForEverybody(t, language, text)
		link := fmt.Sprintf("%s?events=500#event-%d", page, version)
		paneltest.Has(t, paneltest.Past(text), words, `<a href="`+link+`">subscription-`+service.String(),
			fmt.Sprintf(`<li id="event-%d">`, version), fmt.Sprintf(`<li id="event-%d">`, version+1))
		paneltest.Has(t, paneltest.Past(b.Get(link[:strings.IndexByte(link, '#')]).Body.String()),
			fmt.Sprintf(`<li id="event-%d">`, version))
	}
	if text := s.Visiting(t, paneltest.Ben).Get(page).Body.String(); paneltest.Past(text) != "" {
		t.Error("a member sees the history:", paneltest.Past(text))
	}
}
