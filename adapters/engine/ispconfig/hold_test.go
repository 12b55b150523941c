package ispconfig_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// A memory is what the database of one installation remembers of its starts.
type memory struct {
	mu        sync.Mutex
	last      hosting.EngineStart
	takesOver bool
}

func (m *memory) Last(context.Context) (hosting.EngineStart, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last, m.takesOver, nil
}

func (m *memory) Next(_ context.Context, above int64, mark string) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last, m.takesOver = hosting.EngineStart{N: max(m.last.N, above) + 1, Mark: mark}, false
	return m.last.N, nil
}

// copied is the memory of a copy of the database.
func (m *memory) copied() *memory { return &memory{last: m.last} }

// panel is an installation at the world's engine.
func (w *world) panel(id string, m *memory) *ispconfig.Engine {
	w.Helper()
	c := w.config
	c.Installation = ispconfig.Installation{ID: id, Starts: m}
	return w.open(c)
}

func TestASecondPanelOnTheEngineMakesNothing(t *testing.T) {
	w := empty(t)
	first, second := w.panel("aaaa", &memory{}), w.panel("bbbb", &memory{})
	id, err := first.Create(t.Context(), tenant("t17"))
	if err != nil {
		t.Fatal(err)
	}
	theirs := tenant("t17")
	theirs.Values = values("name", "Somebody Else", "email", "else@example.org")
	_, err = second.Create(t.Context(), theirs)
	lacks(t, err, ispconfig.Held, "an engine of its own")
	lacks(t, second.Check(t.Context()), ispconfig.Held, "an engine of its own")
	theirs.ID = id
	lacks(t, second.Change(t.Context(), theirs), ispconfig.Held, "an engine of its own")
	lacks(t, second.RemoveEverything(t.Context(), theirs), ispconfig.Held, "an engine of its own")
	if row := w.row("client", "username", "t17"); row["customer_no"] != "t17@aaaa" || row["company_name"] == "Somebody Else" {
		t.Error(row)
	}
	if err := first.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

// After an operator has given the engine to another installation, the first one's clients
// are strangers to it, and the first one keeps away.
func TestAnEngineThatIsClaimedKeepsItsClients(t *testing.T) {
	w := empty(t)
	first, second := w.panel("aaaa", &memory{}), w.panel("bbbb", &memory{})
	was, err := first.Create(t.Context(), tenant("t17"))
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Claim(t.Context()); err != nil {
		t.Fatal(err)
	}
	if holder, err := second.Holder(t.Context()); holder != "bbbb" || err != nil {
		t.Error(holder, err)
	}
	if _, is, err := second.Find(t.Context(), "tenant", "t17", "t17"); is || err != nil {
		t.Error("another's client is found", err)
	}
	own := tenant("t17")
	own.Name = "ana" // a login that its customer has chosen
	w.fake.Tell("client_update", `{"client_id": 1, "reseller_id": 0, "params": {"username": "ana", "password": ""}}`)
	_, err = second.Create(t.Context(), own)
	refused(t, err, domain.Permanent, "name_taken")
	w.fake.Tell("client_update", `{"client_id": 1, "reseller_id": 0, "params": {"username": "t17", "password": ""}}`)
	if _, err := second.Create(t.Context(), tenant("t17")); err != nil {
		t.Error(err)
	}
	if row := w.row("client", "customer_no", "t17@bbbb"); row["username"] != "t17-2" {
		t.Errorf("the login is %q", row["username"])
	}
	o := tenant("t17")
	o.ID = was
	refused(t, second.Change(t.Context(), o), domain.Permanent, "drift")
	refused(t, second.Remove(t.Context(), o), domain.Permanent, "drift")
	w.fake.Pass(time.Hour)
	lacks(t, first.Change(t.Context(), o), ispconfig.Held, "an engine of its own")
}

// A copy knows of fewer starts than the original, which goes on counting while it runs.
func TestACopyOfTheDatabaseIsToldFromTheOriginal(t *testing.T) {
	w := empty(t)
	m := &memory{}
	original := w.panel("aaaa", m)
	if _, err := original.Create(t.Context(), tenant("t17")); err != nil {
		t.Fatal(err)
	}
	yesterday := m.copied()
	w.fake.Pass(24 * time.Hour)
	if _, err := original.Create(t.Context(), tenant("t18")); err != nil {
		t.Fatal(err)
	}
	staging := w.panel("aaaa", yesterday)
	_, err := staging.Create(t.Context(), tenant("t19"))
	lacks(t, err, ispconfig.Held, "an engine of its own")
	yesterday.takesOver = true // its recovery has ended: it was restored
	if _, err := staging.Create(t.Context(), tenant("t19")); err != nil {
		t.Error(err)
	}
	w.fake.Pass(time.Hour)
	_, err = original.Create(t.Context(), tenant("t20"))
	lacks(t, err, ispconfig.Held, "an engine of its own")
}

// Two databases that are alike start at once: one of them has the start, and the other is
// refused also when it tries again.
func TestOfTwoCopiesOneGoesOn(t *testing.T) {
	w := empty(t)
	m := &memory{}
	if _, err := w.panel("aaaa", m).Create(t.Context(), tenant("t17")); err != nil {
		t.Fatal(err)
	}
	other := m.copied()
	var begun atomic.Bool
	w.fake.Between(func() {
		if begun.Swap(true) {
			return
		}
		if err := w.panel("aaaa", m).Hold(t.Context()); err != nil {
			t.Error(err)
		}
	})
	for range 3 { // a supervisor starts it again
		lacks(t, w.panel("aaaa", other).Hold(t.Context()), ispconfig.Held, "an engine of its own")
	}
	if err := w.panel("aaaa", m).Hold(t.Context()); err != nil {
		t.Error(err)
	}
}

// Several processes of one installation count together.
func TestProcessesOfOneInstallationShareTheEngine(t *testing.T) {
	w := empty(t)
	m := &memory{}
	for _, name := range []string{"t17", "t18", "t19"} {
		if _, err := w.panel("aaaa", m).Create(t.Context(), tenant(name)); err != nil {
			t.Error(err)
		}
	}
	if last, _, _ := m.Last(t.Context()); last.N != 3 {
		t.Errorf("%d starts", last.N)
	}
}

func TestOfTwoThatFindTheEngineFreeOneGetsIt(t *testing.T) {
	w := empty(t)
	second := w.panel("bbbb", &memory{})
	var begun atomic.Bool
	w.fake.Between(func() {
		if begun.Swap(true) {
			return
		}
		if _, err := second.Create(t.Context(), tenant("t18")); err != nil {
			t.Error(err)
		}
	})
	_, err := w.panel("aaaa", &memory{}).Create(t.Context(), tenant("t17"))
	lacks(t, err, ispconfig.Held, "an engine of its own")
	if holder, err := second.Holder(t.Context()); holder != "bbbb" || err != nil {
		t.Error(holder, err)
	}
}

// A first start where an earlier version of another panel has clients would make a second
// set of them.
func TestANewPanelIsRefusedBesideAnOlderOne(t *testing.T) {
	w := empty(t)
	was, err := w.engine.Create(t.Context(), tenant("t17")) // without an installation
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.panel("bbbb", &memory{}).Create(t.Context(), tenant("t1"))
	lacks(t, err, ispconfig.Held, "an engine of its own")

	c := w.config
	c.Installation = ispconfig.Installation{ID: "aaaa", IsOlder: true, Starts: &memory{}}
	upgraded := w.open(c)
	if found, is, err := upgraded.Find(t.Context(), "tenant", "t17", "t17"); !is || found.ID != was || found.Ref != "t17" || err != nil {
		t.Error(found, is, err)
	}
	o := tenant("t17")
	o.ID = was
	if err := upgraded.Change(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if row := w.row("client", "username", "t17"); row["customer_no"] != "t17@aaaa" {
		t.Error(row["customer_no"])
	}
}

// An engine that the remote user may not ask is waited for.
func TestTheEnginesOwnValuesHaveToBeAllowed(t *testing.T) {
	w := empty(t)
	w.fake.Forbid("config_value_get")
	_, err := w.panel("aaaa", &memory{}).Create(t.Context(), tenant("t17"))
	lacks(t, err, "engine_permission", "config_value_get")
	w.fake.Forbid()
	if _, err := w.panel("aaaa", &memory{}).Create(t.Context(), tenant("t17")); err != nil {
		t.Error(err)
	}
}
