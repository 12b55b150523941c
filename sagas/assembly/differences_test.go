package assembly_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
)

// compared compares tenant 5 with the engine and returns the incidents that are
// open or ignored then, in words.
func (w *world) compared() (all []string) {
	w.t.Helper()
	w.must(w.Differences.CompareTenant(w.t.Context(), 5))
	found, err := w.tables.For(projections.System).DifferencesOf(w.t.Context(), 5)
	w.must(err)
	for _, i := range found {
		all = append(all, fmt.Sprint(i.Kind, " ", i.About, " ", i.Times, i.Answer))
	}
	slices.Sort(all)
	return all
}

func (w *world) answer(t operations.Trouble, answer string) error {
	w.t.Helper()
	return w.Operations.Answer(w.t.Context(), operator, t.ID(), answer, "as agreed")
}

// strange puts an object of tenant 5 on the engine that the panel does not know.
func (w *world) strange(kind, name string, o hosting.EngineObject) hosting.EngineObject {
	w.t.Helper()
	o.Kind, o.Name, o.Owner = kind, name, *w.have(hosting.Ref{Kind: "tenant", ID: 5}).EngineID
	w.engine.put(kind+"/"+name, o)
	return w.engine.all()[kind+"/"+name]
}

func strangeSite() hosting.EngineObject {
	s := hosting.Site{Domain: "cake.example", IPAddress: "*", IsActive: true}
	return hosting.EngineObject{Values: s.Fields().Values()}
}

var (
	lostSite    = operations.MissingTrouble(5, "site", 7)
	changedSite = operations.ChangedTrouble(5, "site", 7, []string{"ip_address"})
)

func moved(o *hosting.EngineObject) { o.Values["ip_address"] = json.RawMessage(`"192.0.2.1"`) }

// What differs is told once for each object, nothing is changed by that, and what
// differs no longer is settled by itself.
func TestDifferencesToTheEngineAreToldAndSettledByThemselves(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	w.add("site", 8, &hosting.Site{Domain: "milk.example", IPAddress: "*", IsActive: true})
	w.have(hosting.Ref{Kind: "site", ID: 8})
	w.equal("at first", w.compared(), []string(nil))
	w.meddle("site/bread.example", gone)
	w.meddle("site/milk.example", moved)
	o := w.strange("site", "cake.example", strangeSite())
	before := len(w.engine.all())
	want := []string{
		"engine_changed map[fields:ip_address id:8 kind:site tenant:5] 1",
		"engine_missing map[id:7 kind:site tenant:5] 1",
		fmt.Sprintf("engine_orphan map[engine_id:%d kind:site tenant:5] 1", o.ID),
	}
	for range 2 {
		w.equal("told", w.compared(), want)
	}
	w.equal("objects at the engine", len(w.engine.all()), before)
	w.equal("creations", w.engine.creations("site/bread.example"), 1)
	w.found(w.sync(hosting.Sync{Repair: true}))
	w.engine.forget("site/cake.example")
	w.equal("told after a repair by hand", w.compared(), []string(nil))
	_, settled := w.reports(lostSite)
	w.equal("settled", settled, 1)
	w.meddle("site/bread.example", gone)
	w.equal("told again", w.compared(), []string{"engine_missing map[id:7 kind:site tenant:5] 2"})
}

func TestWhatIsInFlightIsNoDifference(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	w.meddle("site/bread.example", moved)
	w.engine.mu.Lock()
	w.engine.applied = func(o hosting.EngineObject) bool { return o.Name != "bread.example" }
	w.engine.mu.Unlock()
	w.equal("not carried out at the engine", w.compared(), []string(nil))
	w.engine.mu.Lock()
	w.engine.applied = nil
	w.engine.mu.Unlock()
	w.equal("carried out", len(w.compared()), 1)
	w.end()
	w.do(set(hosting.Ref{Kind: "site", ID: 7}, `{"ip_address":"192.0.2.2"}`)) // no process carries it out
	w.equal("an incident about what is in flight stays", len(w.compared()), 1)
	w.add("site", 9, &hosting.Site{Domain: "cake.example", IPAddress: "*", IsActive: true})
	w.strange("site", "cake.example", strangeSite())
	w.equal("made, and not confirmed yet", len(w.compared()), 1)
}

// A list that leaves something out is no proof: each object is asked for alone.
func TestAnEngineThatContradictsItselfProvesNothing(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	w.engine.mu.Lock()
	w.engine.hidden = func(name string) bool { return name == "site/cake.example" }
	w.engine.mu.Unlock()
	w.strange("site", "cake.example", strangeSite())
	w.equal("listed, and not found", w.compared(), []string(nil))
}

func TestWhatIsIgnoredIsToldAgainOnlyAfterItWasOver(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	w.meddle("site/bread.example", moved)
	w.compared()
	w.must(w.answer(changedSite, operations.Ignore))
	w.equal("ignored", w.compared(), []string{"engine_changed map[fields:ip_address id:7 kind:site tenant:5] 1ignore"})
	reported, _ := w.reports(changedSite)
	w.equal("reported", reported, 1)
	w.found(w.sync(hosting.Sync{Repair: true}))
	w.equal("over", w.compared(), []string(nil))
	w.meddle("site/bread.example", moved)
	w.equal("again", w.compared(), []string{"engine_changed map[fields:ip_address id:7 kind:site tenant:5] 2"})
}

func TestWhatIsRemadeIsAsThePanelHasIt(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	w.meddle("site/bread.example", gone)
	w.compared()
	w.equal("nothing to adopt", domain.CodeOf(w.answer(lostSite, operations.Adopt)), domain.Conflict)
	w.must(w.answer(lostSite, operations.Remake))
	w.eventually("it is made again", func() bool { return w.engine.creations("site/bread.example") == 2 })
	w.have(hosting.Ref{Kind: "site", ID: 7})
	w.meddle("site/bread.example", moved)
	w.equal("changed", len(w.compared()), 1)
	w.must(w.answer(changedSite, operations.Remake))
	w.eventually("it is as it was", func() bool { return string(w.engine.all()["site/bread.example"].Values["ip_address"]) == `"*"` })
	w.have(hosting.Ref{Kind: "site", ID: 7})
	w.equal("left", w.compared(), []string(nil))
	w.equal("answered twice", domain.CodeOf(w.answer(changedSite, operations.Remake)), domain.Conflict)
	w.equal("answers", w.often(operations.IncidentStream(changedSite.ID()), "operations.incident_answered"), 1)
}

func TestWhatIsAdoptedIsAsTheEngineHasIt(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	w.meddle("site/bread.example", moved)
	o := w.strange("site", "cake.example", strangeSite())
	w.compared()
	w.must(w.answer(changedSite, operations.Adopt))
	w.equal("ours", w.site7().IPAddress, "192.0.2.1")
	w.must(w.answer(operations.OrphanTrouble(5, "site", o.ID), operations.Adopt))
	holders := func() []projections.Resource {
		rows, err := w.tables.For(projections.System).Holders(w.t.Context(), "site", o.ID)
		w.must(err)
		return rows
	}
	w.eventually("a record is about it", func() bool { rows := holders(); return len(rows) == 1 && rows[0].SyncStatus == "synced" })
	w.equal("creations", w.engine.creations("site/cake.example"), 0)
	w.equal("left", w.compared(), []string(nil))
	w.equal("it is gone", domain.CodeOf(w.answer(operations.OrphanTrouble(5, "site", o.ID), operations.Adopt)), domain.Conflict)
}

// What the panel cannot take over is refused with the reason, and stays open.
func TestWhatNeedsASecretIsNotAdopted(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	site := *w.have(hosting.Ref{Kind: "site", ID: 7}).EngineID
	ftp := hosting.FTPAccount{Username: "t5_baker", IsActive: true}
	o := w.strange("ftp_account", "t5_baker", hosting.EngineObject{Values: ftp.Fields().Values(), Parents: map[string]int64{"site": site}})
	w.equal("told", len(w.compared()), 1)
	err := w.answer(operations.OrphanTrouble(5, "ftp_account", o.ID), operations.Adopt)
	if domain.CodeOf(err) != domain.Conflict || !strings.Contains(err.Error(), "The panel does not know its password.") {
		t.Error(err)
	}
	w.equal("still told", len(w.compared()), 1)
}

// The process that compares may end at any moment: the next one goes on at the
// same tenant. An engine that is away is left alone, and no incident ends by that.
func TestAllTenantsAreComparedInTurnAlsoAfterAnOutage(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t, func(o *assembly.Options) {
		o.Times.Compare, o.Times.ComparePoll, o.Times.CompareLease = 20*time.Millisecond, 5*time.Millisecond, 2*time.Second
	})
	_, err := w.pool.Exec(t.Context(), `update engine_comparison set next_at = business_now()`)
	w.must(err)
	bread := w.engine.all()["site/bread.example"]
	w.meddle("site/bread.example", gone)
	told := func(t operations.Trouble, times int) {
		w.t.Helper()
		w.eventually("it is told", func() bool { reported, _ := w.reports(t); return reported == times })
	}
	told(lostSite, 1)
	w.engine.tell(func(call, _ string) error {
		if call == "list" || call == "find" {
			return domain.Fail(domain.Transient, "engine_down", errors.New("away"))
		}
		return nil
	}, nil)
	w.eventually("it fails", func() bool { return w.count(`select coalesce(sum(fails), 0) from engine_comparison`) > 1 })
	_, settled := w.reports(lostSite)
	w.equal("settled by the outage", settled, 0)
	w.engine.tell(nil, nil)
	w.strange("site", "cake.example", strangeSite())
	told(operations.OrphanTrouble(5, "site", w.engine.all()["site/cake.example"].ID), 1)
	w.end()
	_, err = w.pool.Exec(t.Context(), `update engine_comparison set fails = 1, next_at = business_now() + interval '50 milliseconds', tenant = 4`)
	w.must(err) // as a killed process leaves it
	w.must(w.Operations.Answer(t.Context(), operator, lostSite.ID(), operations.Ignore, "let us see"))
	w.engine.mu.Lock()
	w.engine.objects["site/bread.example"] = bread
	w.engine.mu.Unlock()
	w.goes()
	w.eventually("the next process goes on", func() bool { _, settled := w.reports(lostSite); return settled == 1 })
}

func TestDifferencesOfWhatThePanelHasRemovedAreOver(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	w.meddle("site/bread.example", gone)
	w.compared()
	w.carry(hosting.Remove{Ref: hosting.Ref{Kind: "site", ID: 7}})
	w.ends(lostSite, 1)
}

func TestAnAnswerNeedsAReasonAndAnIncident(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	w.equal("no incident", domain.CodeOf(w.Operations.Answer(t.Context(), operator, uuid.New(), operations.Ignore, "r")), domain.NotFound)
	w.equal("no reason", domain.CodeOf(w.Operations.Answer(t.Context(), operator, lostSite.ID(), operations.Ignore, "")), domain.Invalid)
}
