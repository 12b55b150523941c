package hosting_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// compared compares tenant 5 with the engine and returns the incidents that are
// open or ignored then, in words.
func compared(w *sagastest.World) (all []string) {
	w.T.Helper()
	w.Must(w.Differences.CompareTenant(w.T.Context(), 5))
	found, err := w.Tables.For(projections.System).Operations().DifferencesOf(w.T.Context(), 5)
	w.Must(err)
	for _, i := range found {
		all = append(all, fmt.Sprint(i.Kind, " ", i.About, " ", i.Times, i.Answer))
	}
	slices.Sort(all)
	return all
}

func answer(w *sagastest.World, t operations.Trouble, answer string) error {
	w.T.Helper()
	return w.Operations.Answer(w.T.Context(), sagastest.Operator, t.ID(), answer, "as agreed")
}

// strange puts an object of tenant 5 on the engine that the panel does not know.
func strange(w *sagastest.World, kind, name string, o hosting.EngineObject) hosting.EngineObject {
	w.T.Helper()
	o.Kind, o.Name, o.Owner = kind, name, *have(w, hosting.Ref{Kind: "tenant", ID: 5}).EngineID
	w.Engine.Put(kind+"/"+name, o)
	return w.Engine.All()[kind+"/"+name]
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
	add(w, "site", 8, &hosting.Site{Domain: "milk.example", IPAddress: "*", IsActive: true})
	have(w, hosting.Ref{Kind: "site", ID: 8})
	w.Equal("at first", compared(w), []string(nil))
	meddle(w, "site/bread.example", gone)
	meddle(w, "site/milk.example", moved)
	o := strange(w, "site", "cake.example", strangeSite())
	before := len(w.Engine.All())
	want := []string{
		"engine_changed map[fields:ip_address id:8 kind:site tenant:5] 1",
		"engine_missing map[id:7 kind:site tenant:5] 1",
		fmt.Sprintf("engine_orphan map[engine_id:%d kind:site tenant:5] 1", o.ID),
	}
	for range 2 {
		w.Equal("told", compared(w), want)
	}
	w.Equal("objects at the engine", len(w.Engine.All()), before)
	w.Equal("creations", w.Engine.Creations("site/bread.example"), 1)
	countsOf(w, syncs(w, hosting.Sync{Repair: true}))
	w.Engine.Forget("site/cake.example")
	w.Equal("told after a repair by hand", compared(w), []string(nil))
	_, settled := sagastest.Reports(w, lostSite)
	w.Equal("settled", settled, 1)
	meddle(w, "site/bread.example", gone)
	w.Equal("told again", compared(w), []string{"engine_missing map[id:7 kind:site tenant:5] 2"})
}

func TestWhatIsInFlightIsNoDifference(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	meddle(w, "site/bread.example", moved)
	w.Engine.Mu.Lock()
	w.Engine.Applied = func(o hosting.EngineObject) bool { return o.Name != "bread.example" }
	w.Engine.Mu.Unlock()
	w.Equal("not carried out at the engine", compared(w), []string(nil))
	w.Engine.Mu.Lock()
	w.Engine.Applied = nil
	w.Engine.Mu.Unlock()
	w.Equal("carried out", len(compared(w)), 1)
	w.End()
	w.Does(sagastest.Set(hosting.Ref{Kind: "site", ID: 7}, `{"ip_address":"192.0.2.2"}`)) // no process carries it out
	w.Equal("an incident about what is in flight stays", len(compared(w)), 1)
	add(w, "site", 9, &hosting.Site{Domain: "cake.example", IPAddress: "*", IsActive: true})
	strange(w, "site", "cake.example", strangeSite())
	w.Equal("made, and not confirmed yet", len(compared(w)), 1)
}

// A list that leaves something out is no proof: each object is asked for alone.
func TestAnEngineThatContradictsItselfProvesNothing(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	w.Engine.Mu.Lock()
	w.Engine.Hidden = func(name string) bool { return name == "site/cake.example" }
	w.Engine.Mu.Unlock()
	strange(w, "site", "cake.example", strangeSite())
	w.Equal("listed, and not found", compared(w), []string(nil))
}

func TestWhatIsIgnoredIsToldAgainOnlyAfterItWasOver(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	meddle(w, "site/bread.example", moved)
	compared(w)
	w.Must(answer(w, changedSite, operations.Ignore))
	w.Equal("ignored", compared(w), []string{"engine_changed map[fields:ip_address id:7 kind:site tenant:5] 1ignore"})
	reported, _ := sagastest.Reports(w, changedSite)
	w.Equal("reported", reported, 1)
	countsOf(w, syncs(w, hosting.Sync{Repair: true}))
	w.Equal("over", compared(w), []string(nil))
	meddle(w, "site/bread.example", moved)
	w.Equal("again", compared(w), []string{"engine_changed map[fields:ip_address id:7 kind:site tenant:5] 2"})
}

func TestWhatIsRemadeIsAsThePanelHasIt(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	meddle(w, "site/bread.example", gone)
	compared(w)
	w.Equal("nothing to adopt", domain.CodeOf(answer(w, lostSite, operations.Adopt)), domain.Conflict)
	w.Must(answer(w, lostSite, operations.Remake))
	w.Eventually("it is made again", func() bool { return w.Engine.Creations("site/bread.example") == 2 })
	have(w, hosting.Ref{Kind: "site", ID: 7})
	meddle(w, "site/bread.example", moved)
	w.Equal("changed", len(compared(w)), 1)
	w.Must(answer(w, changedSite, operations.Remake))
	w.Eventually("it is as it was", func() bool { return string(w.Engine.All()["site/bread.example"].Values["ip_address"]) == `"*"` })
	have(w, hosting.Ref{Kind: "site", ID: 7})
	w.Equal("left", compared(w), []string(nil))
	w.Equal("answered twice", domain.CodeOf(answer(w, changedSite, operations.Remake)), domain.Conflict)
	w.Equal("answers", w.Often(operations.IncidentStream(changedSite.ID()), "operations.incident_answered"), 1)
}

func TestWhatIsAdoptedIsAsTheEngineHasIt(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	meddle(w, "site/bread.example", moved)
	o := strange(w, "site", "cake.example", strangeSite())
	compared(w)
	w.Must(answer(w, changedSite, operations.Adopt))
	w.Equal("ours", site7(w).IPAddress, "192.0.2.1")
	w.Must(answer(w, operations.OrphanTrouble(5, "site", o.ID), operations.Adopt))
	holders := func() []projections.Resource {
		rows, err := w.Tables.For(projections.System).Hosting().Holders(w.T.Context(), "site", o.ID)
		w.Must(err)
		return rows
	}
	w.Eventually("a record is about it", func() bool { rows := holders(); return len(rows) == 1 && rows[0].SyncStatus == "synced" })
	w.Equal("creations", w.Engine.Creations("site/cake.example"), 0)
	w.Equal("left", compared(w), []string(nil))
	w.Equal("it is gone", domain.CodeOf(answer(w, operations.OrphanTrouble(5, "site", o.ID), operations.Adopt)), domain.Conflict)
}

// What the panel cannot take over is refused with the reason, and stays open.
func TestWhatNeedsASecretIsNotAdopted(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	site := *have(w, hosting.Ref{Kind: "site", ID: 7}).EngineID
	ftp := hosting.FTPAccount{Username: "t5_baker", IsActive: true}
	o := strange(w, "ftp_account", "t5_baker", hosting.EngineObject{Values: ftp.Fields().Values(), Parents: map[string]int64{"site": site}})
	w.Equal("told", len(compared(w)), 1)
	err := answer(w, operations.OrphanTrouble(5, "ftp_account", o.ID), operations.Adopt)
	if domain.CodeOf(err) != domain.Conflict || !strings.Contains(err.Error(), "The panel does not know its password.") {
		t.Error(err)
	}
	w.Equal("still told", len(compared(w)), 1)
}

// The process that compares may end at any moment: the next one goes on at the
// same tenant. An engine that is away is left alone, and no incident ends by that.
func TestAllTenantsAreComparedInTurnAlsoAfterAnOutage(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t, func(o *assembly.Options) {
		o.Times.Compare, o.Times.ComparePoll, o.Times.CompareLease = 20*time.Millisecond, 5*time.Millisecond, 2*time.Second
	})
	_, err := w.Pool.Exec(t.Context(), `update engine_comparison set next_at = business_now()`)
	w.Must(err)
	bread := w.Engine.All()["site/bread.example"]
	meddle(w, "site/bread.example", gone)
	told := func(t operations.Trouble, times int) {
		w.T.Helper()
		w.Eventually("it is told", func() bool { reported, _ := sagastest.Reports(w, t); return reported == times })
	}
	told(lostSite, 1)
	w.Engine.Tell(func(call, _ string) error {
		if call == "list" || call == "find" {
			return domain.Fail(domain.Transient, "engine_down", errors.New("away"))
		}
		return nil
	}, nil)
	w.Eventually("it fails", func() bool {
		return w.Count(`select coalesce(sum(attempts), 0) from task where queue = 'differences'`) > 1
	})
	_, settled := sagastest.Reports(w, lostSite)
	w.Equal("settled by the outage", settled, 0)
	w.Engine.Tell(nil, nil)
	strange(w, "site", "cake.example", strangeSite())
	told(operations.OrphanTrouble(5, "site", w.Engine.All()["site/cake.example"].ID), 1)
	w.End()
	_, err = w.Pool.Exec(t.Context(), `
		with turn as (update engine_comparison set next_at = business_now(), tenant = 4)
		insert into task (queue, key, lease_until, worker) values ('differences', '5', real_now() + interval '50 milliseconds', 'killed')
		on conflict (queue, key) do update set lease_until = excluded.lease_until, state = 'waiting', next_at = business_now()`)
	w.Must(err) // as a killed process leaves it
	w.Must(w.Operations.Answer(t.Context(), sagastest.Operator, lostSite.ID(), operations.Ignore, "let us see"))
	w.Engine.Mu.Lock()
	w.Engine.Objects["site/bread.example"] = bread
	w.Engine.Mu.Unlock()
	w.Goes()
	w.Eventually("the next process goes on", func() bool { _, settled := sagastest.Reports(w, lostSite); return settled == 1 })
}

func TestDifferencesOfWhatThePanelHasRemovedAreOver(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	meddle(w, "site/bread.example", gone)
	compared(w)
	w.Carry(hosting.Remove{Ref: hosting.Ref{Kind: "site", ID: 7}})
	sagastest.Ends(w, lostSite, 1)
}

func TestAnAnswerNeedsAReasonAndAnIncident(t *testing.T) { // E-8
	t.Parallel()
	w := newHouse(t)
	w.Equal(
		"no incident",
		domain.CodeOf(w.Operations.Answer(t.Context(), sagastest.Operator, uuid.New(), operations.Ignore, "r")),
		domain.NotFound,
	)
	w.Equal(
		"no reason",
		domain.CodeOf(w.Operations.Answer(t.Context(), sagastest.Operator, lostSite.ID(), operations.Ignore, "")),
		domain.Invalid,
	)
}

// An engine that takes no site with an address.
type sharing struct{ hosting.EngineServer }

func (sharing) CheckForm(_ context.Context, o hosting.EngineObject) (wrong field.Errors, err error) {
	if string(o.Values["ip_address"]) != `"*"` && slices.Contains(o.Changed, "ip_address") {
		wrong.Add("ip_address", "no")
	}
	return wrong, nil
}

// A site whose address the engine would not take any more takes requests for others: that
// is a difference, although record and engine agree.
func TestASiteThatTakesTheRequestsOfOthersIsADifference(t *testing.T) {
	t.Parallel()
	w := newHouse(t, func(o *assembly.Options) { o.Engine = sharing{o.Engine} })
	w.Equal("at first", len(compared(w)), 0)
	w.Does(sagastest.Set(hosting.Ref{Kind: "site", ID: 7}, `{"ip_address":"192.0.2.1"}`))
	have(w, hosting.Ref{Kind: "site", ID: 7})
	w.Equal("with an address", compared(w), []string{"engine_changed map[fields:ip_address id:7 kind:site tenant:5] 1"})
	for range 2 {
		found := countsOf(w, syncs(w, hosting.Sync{Repair: true}))
		w.Equal("a comparison on request", found.String(), "created 0 updated 0 missing 0")
		w.Equal("what it tells", fmt.Sprint(len(found.Drift)), "1")
		for _, d := range found.Drift {
			said := fmt.Sprintf("%s/%d %s %s %s", d.Resource, d.ID, d.Field, d.Panel, d.Engine)
			w.Equal("where", said, `site/7 ip_address "192.0.2.1" "192.0.2.1"`)
		}
	}
	w.Does(sagastest.Set(hosting.Ref{Kind: "site", ID: 7}, `{"ip_address":"*"}`))
	have(w, hosting.Ref{Kind: "site", ID: 7})
	w.Equal("without", len(compared(w)), 0)
}

// A zone without a record of one of its name servers differs, although all its fields agree.
func TestAZoneWithoutOneOfItsNameServersIsADifference(t *testing.T) {
	t.Parallel()
	w := newHouse(t)
	ref := hosting.Ref{Kind: "dns_zone", ID: 9}
	zone := hosting.DNSZone{Origin: "bread.example.", NSPrimary: "ns1.example.", AdminEmail: "a.example.", TTL: 300, IsActive: true}
	add(w, "dns_zone", 9, &zone)
	have(w, ref)
	w.Equal("at first", len(compared(w)), 0)
	meddle(w, "dns_zone/bread.example.", func(o *hosting.EngineObject) { o.Lacks = []string{"ns2.example."} })
	w.Equal("without one", compared(w), []string{"engine_changed map[fields:name_servers id:9 kind:dns_zone tenant:5] 1"})
	meddle(w, "dns_zone/bread.example.", func(o *hosting.EngineObject) { o.Lacks = nil })
	w.Equal("with all", len(compared(w)), 0)
}
