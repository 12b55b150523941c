//go:build system

package audit_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/evidence"
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
		paneltest.Has(t, paneltest.Past(text), words, `<a href="`+link+`">`,
			fmt.Sprintf(`<li id="event-%d">`, version), fmt.Sprintf(`<li id="event-%d">`, version+1))
		paneltest.Has(t, paneltest.Past(b.Get(link[:strings.IndexByte(link, '#')]).Body.String()),
			fmt.Sprintf(`<li id="event-%d">`, version))
	}
	if text := s.Visiting(t, paneltest.Ben).Get(page).Body.String(); paneltest.Past(text) != "" {
		t.Error("a member sees the history:", paneltest.Past(text))
	}
}

// An administrator has a pack of the own tenant made, fetches it, and a stranger checks
// it. Others neither see the job nor the file.
func TestAnAdministratorFetchesAPackOfTheTenant(t *testing.T) {
	t.Parallel()
	s := twoTenantsSites(t)
	s.Do(t, account.ActivateTenant{User: paneltest.Ana, Tenant: 1, At: time.Now()})
	s.Do(t, account.ActivateTenant{User: paneltest.Ben, Tenant: 1, At: time.Now()})
	id := packJob(t, s, "ana", fmt.Sprintf(`{"from":"2020-01-01T00:00:00Z","to":%q}`,
		time.Now().UTC().Format(time.RFC3339Nano))) // without its own events
	file := "/audit/api/v1/packs/" + id + "/evidence.zip"
	if w := s.Call("GET", file, "", paneltest.Bearer(s.Known["ana"])...); w.Code != http.StatusNotFound {
		t.Error("before it is made:", w.Code, w.Body)
	}
	s.Seal(t)
	s.Start(t)
	done := s.Done(t, id, "ana")
	if done.Status != "succeeded" || done.Result["file"] != file || done.Result["events"].(float64) < 2 ||
		done.Result["expires_at"] == nil {
		t.Fatalf("%+v", done)
	}
	w := s.Call("GET", file, "", paneltest.Bearer(s.Known["ana"])...)
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil || w.Header().Get("Content-Type") != "application/zip" || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatal(err, w.Code, w.Header())
	}
	pack, err := evidence.Read(z)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := pack.Check(nil); err != nil || len(r.Faults) != 0 ||
		len(r.Events) != int(done.Result["events"].(float64)) {
		t.Error(r.Faults, err)
	}
	if bytes.Contains(pack.Story, []byte("s2.example")) || !bytes.Contains(pack.Story, []byte("site-1")) {
		t.Error("the story is not that of the tenant")
	}
	for who, want := range map[string]int{
		"root": http.StatusOK, "ben": http.StatusForbidden,
		"eve": http.StatusForbidden,
	} {
		if w := s.Call("GET", file, "", paneltest.Bearer(s.Known[who])...); w.Code != want {
			t.Errorf("%s: %d %s", who, w.Code, w.Body)
		}
	}
	ofAll := packJob(t, s, "root", `{"tenant":1}`)
	for _, path := range []string{
		"/hosting/api/rest/operations/" + ofAll + "/",
		"/audit/api/v1/packs/" + ofAll + "/evidence.zip",
	} {
		if w := s.Call("GET", path, "", paneltest.Bearer(s.Known["ana"])...); w.Code != http.StatusNotFound {
			t.Errorf("the pack of a superuser: %s %d", path, w.Code)
		}
	}
}
