package sagas

import (
	"cmp"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/projections"

	"github.com/google/uuid"
)

// A household is a tenant with records of its own, at an engine that lies when
// it is told to.
type household struct {
	*world
	tenant int64
}

func newHousehold(t *testing.T, change ...func(*Options)) *household {
	t.Helper()
	h := &household{newWorld(t, change...), 0}
	h.tenant = h.draw("tenant")
	h.carry(h.newTenant(h.tenant))
	return h
}

func (w *world) draw(name string) int64 {
	w.t.Helper()
	ids, err := w.store.NextIDs(w.t.Context(), name)
	w.must(err)
	return ids[0]
}

func (w *world) newTenant(id int64) hosting.Request {
	t := &hosting.Tenant{Name: "Ana", Email: "ana@example.com", Slug: hosting.CustomerNumber(id), Username: hosting.CustomerNumber(id), Status: "active", IsActive: true, Limits: hosting.NoLimits()}
	return hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: id}, Tenant: id, Spec: t.Fields().Values(), Subject: uuid.New()}
}

// ask is a request for a record of the tenant's.
func (h *household) ask(id int64, spec hosting.Spec) hosting.Request {
	return hosting.Request{Ref: hosting.Ref{Kind: kindOf(spec), ID: id}, Tenant: h.tenant, Spec: spec.Fields().Values(), Subject: uuid.New()}
}

func kindOf(spec hosting.Spec) string {
	for _, kind := range hosting.Kinds {
		if fmt.Sprintf("%T", kind.New()) == fmt.Sprintf("%T", spec) {
			return kind.Name
		}
	}
	panic("no kind")
}

// A virtual clock is set by hand.
type virtual struct {
	mu sync.Mutex
	at time.Time
}

func (v *virtual) now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.at
}

func (v *virtual) pass(d time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.at = v.at.Add(d)
}

func site(name string) *hosting.Site {
	return &hosting.Site{Domain: name, IPAddress: "*", IsActive: true}
}

func mailbox(domain int64, local, handle string) *hosting.Mailbox {
	return &hosting.Mailbox{MailDomain: domain, LocalPart: local, Email: local + "@example.com", Password: handle, QuotaMB: 10, IsActive: true}
}

func (w *world) carry(commands ...domain.Command) domain.Receipt {
	w.t.Helper()
	return w.carrying(nil, commands...)
}

func (w *world) carrying(secrets map[uuid.UUID]string, commands ...domain.Command) domain.Receipt {
	w.t.Helper()
	receipt, err := w.Resources().Carry(w.t.Context(), domain.Cause{Actor: "user:1"}, secrets, commands...)
	w.must(err)
	return receipt
}

func set(ref hosting.Ref, fields string) hosting.Change {
	spec := field.Values{}
	if err := json.Unmarshal([]byte(fields), &spec); err != nil {
		panic(err)
	}
	return hosting.Change{Ref: ref, Spec: spec}
}

func (w *world) resource(ref hosting.Ref) projections.Resource {
	w.t.Helper()
	found, err := w.tables.For(projections.System).Recorded(w.t.Context(), ref)
	w.must(err)
	return found[ref]
}

// stands waits until a resource stands so and no wish of it is open.
func (w *world) stands(ref hosting.Ref, status hosting.Status) projections.Resource {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%s is %s (it is %+v)", ref.Stream(), status, w.resource(ref)), func() bool { return w.resource(ref).Status == status })
	return w.resource(ref)
}

// quiet waits until no run of a resource has anything left to do.
func (w *world) quiet() {
	w.t.Helper()
	w.eventually("every run is over", func() bool {
		return w.count(`select count(*) from saga_run where def = $1 and status not in ('done', 'undone', 'parked')`, engineDef) == 0
	})
}

// has is the engine's object; it fails the test if there is none.
func (w *world) has(kind, name string) hosting.EngineObject {
	w.t.Helper()
	o, there := w.engine.all()[kind+"/"+name]
	if !there {
		w.t.Fatalf("the engine has no %s %s: %v", kind, name, w.engine.all())
	}
	return o
}

func value(o hosting.EngineObject, name string) string { return string(o.Values[name]) }

func TestWhatIsAskedForIsMadeAtTheEngine(t *testing.T) {
	h := newHousehold(t)
	s, m, b := h.ask(h.draw("site"), site("example.com")), h.ask(h.draw("mail_domain"), &hosting.MailDomain{Domain: "example.com", IsActive: true}), uuid.New()
	box := h.ask(h.draw("mailbox"), mailbox(m.ID, "ana", b.String()))
	h.carrying(map[uuid.UUID]string{b: "pass-word-1"}, s, m, box) // the tenant's place is not made yet
	h.equal("runs", h.count(`select count(*) from saga_run where about <> ''`), 4)
	h.goes()
	for _, ref := range []hosting.Ref{s.Ref, m.Ref, box.Ref} {
		row := h.stands(ref, hosting.Running)
		h.equal("sync", row.SyncStatus, "synced")
	}
	h.quiet()
	client := h.has("tenant", hosting.CustomerNumber(h.tenant))
	made := h.has("mailbox", "ana@example.com")
	h.equal("owner", made.Owner, client.ID)
	h.equal("parent", made.Parents["mail_domain"], h.has("mail_domain", "example.com").ID)
	h.equal("password", made.Secrets["password"], "pass-word-1")
	h.equal("password in the values", value(made, "password"), "")
	h.equal("known as", *h.resource(box.Ref).EngineID, made.ID)
	h.equal("secrets left", h.count(`select count(*) from secret_handoff`), 0)
	for name := range h.engine.all() {
		h.equal(name, h.engine.creations(name), 1)
	}
	h.equal("in the log", h.count(`select count(*) from events where data::text like '%pass-word%'`), 0)
	answered, err := h.tables.For(projections.Caller{Tenant: h.tenant}).Acknowledged(t.Context(), s.Ref, 1)
	h.equal("acknowledged", answered, true)
	h.must(err)
}

func TestAWishIsNotAcknowledgedBeforeTheEngineHasAnswered(t *testing.T) {
	h := newHousehold(t)
	s := h.ask(h.draw("site"), site("example.com"))
	wish := h.carry(s).Versions[s.Stream()]
	acknowledged := func(wish int) bool {
		yes, err := h.tables.For(projections.Caller{Tenant: h.tenant}).Acknowledged(t.Context(), s.Ref, wish)
		h.must(err)
		return yes
	}
	h.equal("before", acknowledged(wish), false)
	h.goes()
	h.stands(s.Ref, hosting.Running)
	h.equal("after", acknowledged(wish), true)
	h.engine.tell(func(call, _ string) error {
		if call == "remove" {
			return domain.Fail(domain.Transient, "busy", errLie)
		}
		return nil
	}, nil)
	wish = h.carry(hosting.Remove{Ref: s.Ref}).Versions[s.Stream()]
	h.equal("of the removal", acknowledged(wish), false)
	h.equal("of a wish that nobody has", acknowledged(wish+1), false)
	h.engine.tell(nil, nil)
	h.stands(s.Ref, hosting.Gone)
	h.equal("after the removal", acknowledged(wish), true)
}

func TestAChangeReachesTheEngineAndKeepsThePassword(t *testing.T) {
	h := newHousehold(t)
	d, b := h.ask(h.draw("mail_domain"), &hosting.MailDomain{Domain: "example.com", IsActive: true}), uuid.New()
	box := h.ask(h.draw("mailbox"), mailbox(d.ID, "ana", b.String()))
	h.carrying(map[uuid.UUID]string{b: "pass-word-1"}, d, box)
	h.goes()
	h.stands(box.Ref, hosting.Running)
	h.carry(set(box.Ref, `{"quota_mb":77}`))
	h.stands(box.Ref, hosting.Running)
	h.equal("quota", value(h.has("mailbox", "ana@example.com"), "quota_mb"), "77")
	h.equal("password sent again", h.has("mailbox", "ana@example.com").Secrets["password"], "")
	next := uuid.New()
	h.carrying(map[uuid.UUID]string{next: "pass-word-2"}, set(box.Ref, fmt.Sprintf(`{"password":%q}`, next)))
	h.stands(box.Ref, hosting.Running)
	h.equal("password", h.has("mailbox", "ana@example.com").Secrets["password"], "pass-word-2")
	h.quiet()
	h.equal("secrets left", h.count(`select count(*) from secret_handoff`), 0)
	h.equal("made", h.engine.creations("mailbox/ana@example.com"), 1)
}

func TestOnlyTheLastOfManyWishesIsPushed(t *testing.T) {
	h := newHousehold(t)
	s := h.ask(h.draw("site"), site("example.com"))
	h.carry(s)
	for i := range 9 {
		h.carry(set(s.Ref, fmt.Sprintf(`{"ip_address":"192.0.2.%d"}`, i)))
	}
	h.goes()
	h.stands(s.Ref, hosting.Running)
	h.quiet()
	h.equal("address", value(h.has("site", "example.com"), "ip_address"), `"192.0.2.8"`)
	h.equal("made", h.engine.creations("site/example.com"), 1)
	h.equal("changed", h.engine.changes("site/example.com"), 0)
	h.equal("wishes overtaken", h.count(`select count(*) from saga_run where about = $1 and status = 'done'`, s.Stream().String()), 10)
}

func TestAResourceIsRenamedWhateverTheEngineCallsItByNow(t *testing.T) {
	h := newHousehold(t)
	h.engine.strict = true
	s := h.ask(h.draw("site"), site("one.example.com"))
	h.carry(s)
	h.goes()
	h.stands(s.Ref, hosting.Running)
	lost := make(chan struct{})
	h.engine.tell(nil, func(call, name string) error {
		if call == "change" && name == "site/two.example.com" {
			select {
			case <-lost:
			default:
				close(lost)
				h.carry(set(s.Ref, `{"domain":"three.example.com"}`)) // while the answer gets lost
				return domain.Fail(domain.Unknown, "timeout", errLie)
			}
		}
		return nil
	})
	h.carry(set(s.Ref, `{"domain":"two.example.com"}`))
	h.eventually("it is renamed twice", func() bool { return h.resource(s.Ref).Status == hosting.Running && h.resource(s.Ref).Wish > 3 })
	h.quiet()
	h.equal("number", h.has("site", "three.example.com").ID, *h.resource(s.Ref).EngineID)
	h.equal("sites", len(h.engine.all()), 2) // with the client
}

func TestHaltedResourcesAreOffAndComeBackAsTheyWere(t *testing.T) {
	h := newHousehold(t)
	on, off := h.ask(h.draw("site"), site("on.example.com")), h.ask(h.draw("site"), site("off.example.com"))
	off.Spec["is_active"] = json.RawMessage("false")
	h.carry(on, off)
	h.goes()
	h.stands(on.Ref, hosting.Running)
	h.stands(off.Ref, hosting.Running)
	h.carry(hosting.Halt{Ref: on.Ref, By: hosting.BySite}, hosting.Halt{Ref: off.Ref, By: hosting.ByTenant})
	h.eventually("both are off", func() bool {
		return h.resource(on.Ref).SyncStatus == "synced" && h.resource(off.Ref).SyncStatus == "synced"
	})
	h.equal("on", value(h.has("site", "on.example.com"), "is_active"), "false")
	h.equal("active", h.resource(on.Ref).Active, false)
	h.carry(hosting.Release{Ref: on.Ref, By: hosting.BySite}, hosting.Release{Ref: off.Ref, By: hosting.ByTenant})
	h.eventually("both are as they were", func() bool {
		return h.resource(on.Ref).SyncStatus == "synced" && h.resource(off.Ref).SyncStatus == "synced"
	})
	h.equal("on", value(h.has("site", "on.example.com"), "is_active"), "true")
	h.equal("off", value(h.has("site", "off.example.com"), "is_active"), "false")
}

func TestWhatTheEngineRefusesIsShownAndTriedAgainWithTheNextWish(t *testing.T) {
	h := newHousehold(t)
	h.engine.tell(func(call, name string) error {
		if call == "create" && name == "site/bad.example.com" {
			return domain.Fail(domain.Permanent, "invalid", errLie)
		}
		return nil
	}, nil)
	s := h.ask(h.draw("site"), site("bad.example.com"))
	h.carry(s)
	h.goes()
	row := h.stands(s.Ref, hosting.Refused)
	h.equal("sync", row.SyncStatus+" "+row.SyncError, "error invalid")
	h.equal("run", h.runOf(fmt.Sprintf("engine:site-%d/1", s.ID)).Status, Stopped)
	h.carry(set(s.Ref, `{"domain":"good.example.com"}`))
	row = h.stands(s.Ref, hosting.Running)
	h.equal("sync", row.SyncStatus+row.SyncError, "synced")
	h.quiet()
	h.equal("the run that was overtaken", h.runOf(fmt.Sprintf("engine:site-%d/1", s.ID)).Status, Done)
}

func TestAnOperatorLetsARefusedWishGoOn(t *testing.T) {
	h := newHousehold(t)
	h.engine.tell(func(call, name string) error {
		if call == "create" && name == "site/full.example.com" {
			return domain.Fail(domain.Permanent, "disk_full", errLie)
		}
		return nil
	}, nil)
	s := h.ask(h.draw("site"), site("full.example.com"))
	h.carry(s)
	h.goes()
	h.stands(s.Ref, hosting.Refused)
	h.engine.tell(nil, nil)
	id := RunID(fmt.Sprintf("engine:site-%d/1", s.ID))
	h.must(h.RetryRun(t.Context(), domain.Cause{Actor: "operator:1"}, id, "the disk is empty again"))
	h.stands(s.Ref, hosting.Running)
	h.equal("made", h.engine.creations("site/full.example.com"), 1)
}

func TestASecretThatIsGoneHasToBeSentAgain(t *testing.T) {
	h := newHousehold(t)
	d, b := h.ask(h.draw("mail_domain"), &hosting.MailDomain{Domain: "example.com", IsActive: true}), uuid.New()
	box := h.ask(h.draw("mailbox"), mailbox(d.ID, "ana", b.String()))
	h.carry(d, box) // nobody has handed the password over
	h.goes()
	row := h.stands(box.Ref, hosting.Refused)
	h.equal("sync", row.SyncStatus+" "+row.SyncError, "error secret_needed")
	next := uuid.New()
	h.carrying(map[uuid.UUID]string{next: "pass-word-2"}, set(box.Ref, fmt.Sprintf(`{"password":%q}`, next)))
	h.stands(box.Ref, hosting.Running)
	h.equal("password", h.has("mailbox", "ana@example.com").Secrets["password"], "pass-word-2")
}

func TestALostAnswerIsFoundAndNothingIsMadeTwice(t *testing.T) { // F-12
	h := newHousehold(t)
	var mu sync.Mutex
	lost := map[string]bool{}
	h.engine.tell(nil, func(call, name string) error {
		mu.Lock()
		defer mu.Unlock()
		if !lost[call+name] {
			lost[call+name] = true
			return domain.Fail(domain.Unknown, "timeout", errLie)
		}
		return nil
	})
	s := h.ask(h.draw("site"), site("example.com"))
	h.carry(s)
	h.goes()
	h.stands(s.Ref, hosting.Running)
	h.carry(set(s.Ref, `{"ip_address":"192.0.2.1"}`))
	h.stands(s.Ref, hosting.Running)
	h.equal("address", value(h.has("site", "example.com"), "ip_address"), `"192.0.2.1"`)
	h.carry(hosting.Remove{Ref: s.Ref})
	h.stands(s.Ref, hosting.Gone)
	h.quiet()
	h.equal("made", h.engine.creations("site/example.com"), 1)
	h.equal("removed", h.engine.removals("site/example.com"), 1)
	h.equal("clients", h.engine.creations("tenant/"+hosting.CustomerNumber(h.tenant)), 1)
}

// The engine has made it, the answer was lost, and the wish has changed since.
func TestWhatWasMadeForAnEarlierWishIsAdoptedAndBroughtToThePresentOne(t *testing.T) {
	h := newHousehold(t)
	s := h.ask(h.draw("site"), site("example.com"))
	h.engine.tell(nil, func(call, name string) error {
		if call == "create" && name == "site/example.com" {
			h.carry(set(s.Ref, `{"ip_address":"192.0.2.9"}`))
			return domain.Fail(domain.Unknown, "timeout", errLie)
		}
		return nil
	})
	h.carry(s)
	h.goes()
	h.stands(s.Ref, hosting.Running)
	h.quiet()
	h.equal("address", value(h.has("site", "example.com"), "ip_address"), `"192.0.2.9"`)
	h.equal("made", h.engine.creations("site/example.com"), 1)
}

func TestWhatTheEngineHasLostIsMadeAnew(t *testing.T) {
	h := newHousehold(t)
	s := h.ask(h.draw("site"), site("example.com"))
	h.carry(s)
	h.goes()
	first := *h.stands(s.Ref, hosting.Running).EngineID
	h.must(h.engine.Remove(t.Context(), hosting.EngineObject{Kind: "site", ID: first}))
	h.carry(set(s.Ref, `{"ip_address":"192.0.2.9"}`))
	row := h.stands(s.Ref, hosting.Running)
	h.equal("number", *row.EngineID, h.has("site", "example.com").ID)
	if *row.EngineID == first {
		t.Error("it is the old one")
	}
}

func TestSomebodyElsesObjectIsNeitherTakenNorRemoved(t *testing.T) { // F-13
	h := newHousehold(t)
	h.engine.put("site/taken.example.com", hosting.EngineObject{Kind: "site", Name: "taken.example.com", Owner: 999})
	s := h.ask(h.draw("site"), site("taken.example.com"))
	h.carry(s)
	h.goes()
	row := h.stands(s.Ref, hosting.Refused)
	h.equal("why", row.SyncError, "name_taken")
	h.carry(hosting.Remove{Ref: s.Ref})
	h.stands(s.Ref, hosting.Gone)
	h.equal("still there", h.has("site", "taken.example.com").Owner, 999)
}

func TestANameIsUsedAgainOnlyWhenTheOldOneHasLeft(t *testing.T) {
	h := newHousehold(t)
	old := h.ask(h.draw("site"), site("example.com"))
	h.carry(old)
	h.goes()
	h.stands(old.Ref, hosting.Running)
	busy := true
	h.engine.tell(func(call, _ string) error {
		h.engine.mu.Lock()
		defer h.engine.mu.Unlock()
		if call == "remove" && busy {
			return domain.Fail(domain.Transient, "busy", errLie)
		}
		return nil
	}, nil)
	again := h.ask(h.draw("site"), site("example.com"))
	h.carry(hosting.Remove{Ref: old.Ref}, again)
	h.eventually("the new one waits", func() bool {
		return h.count(`select count(*) from saga_run where about = $1 and awaits = $2`, again.Stream().String(), old.Stream().String()) == 1
	})
	h.equal("the old one", h.has("site", "example.com").ID, *h.resource(old.Ref).EngineID)
	h.engine.mu.Lock()
	busy = false
	h.engine.mu.Unlock()
	row := h.stands(again.Ref, hosting.Running)
	h.stands(old.Ref, hosting.Gone)
	h.equal("the new one", h.has("site", "example.com").ID, *row.EngineID)
	h.equal("made", h.engine.creations("site/example.com"), 2)
	h.equal("removed", h.engine.removals("site/example.com"), 1)
}

func TestPartsLeaveBeforeWhatTheyAreAPartOf(t *testing.T) {
	h := newHousehold(t)
	s := h.ask(h.draw("site"), site("example.com"))
	f := h.ask(h.draw("ftp_account"), &hosting.FTPAccount{Site: s.ID, Username: "ana", Directory: "/", QuotaMB: -1, IsActive: true})
	h.carry(s, f)
	h.goes()
	h.stands(f.Ref, hosting.Running)
	var order []string
	h.engine.tell(nil, func(call, name string) error {
		if call == "remove" {
			order = append(order, name)
		}
		return nil
	})
	h.carry(hosting.Remove{Ref: s.Ref}, hosting.Remove{Ref: f.Ref})
	h.stands(s.Ref, hosting.Gone)
	h.quiet()
	h.equal("order", order, []string{"ftp_account/ana", "site/example.com"})
}

// An answer to a wish that has been overtaken tells no more than the number.
func TestALateAnswerLeavesTheLaterWishOpen(t *testing.T) {
	h := newHousehold(t)
	s := h.ask(h.draw("site"), site("example.com"))
	h.carry(s)
	answered, more := make(chan struct{}), make(chan struct{})
	h.fault = func(p point, c claimed) error {
		if p == beforeComplete && c.Key == fmt.Sprintf("engine:site-%d/1", s.ID) && c.Step == 0 {
			close(answered)
			<-more
		}
		return nil
	}
	h.goes()
	<-answered
	h.carry(set(s.Ref, `{"ip_address":"192.0.2.7"}`))
	close(more)
	h.eventually("the later wish is fulfilled", func() bool { r := h.resource(s.Ref); return r.SyncStatus == "synced" && r.Wish == 2 })
	h.quiet()
	h.equal("address", value(h.has("site", "example.com"), "ip_address"), `"192.0.2.7"`)
	h.equal("facts", h.happened(s.Stream()), []string{"hosting.requested", "hosting.changed", "hosting.confirmed", "hosting.confirmed"})
}

func TestAWorkerMayDieAnywhereOnTheWayToTheEngine(t *testing.T) { // F-1
	h := newHousehold(t, func(o *Options) { o.Times.Lease = 500 * time.Millisecond })
	dead := map[string]bool{}
	kill := func(at point, c claimed) error {
		h.engine.mu.Lock()
		defer h.engine.mu.Unlock()
		if key := string(at) + " " + c.Key; c.Step == 0 && c.Job.Kind == "site" && !dead[key] {
			dead[key] = true
			return errKilled
		}
		return nil
	}
	h.fault = kill
	s := h.ask(h.draw("site"), site("example.com"))
	h.carry(s)
	h.goes()
	h.stands(s.Ref, hosting.Running)
	h.carry(set(s.Ref, `{"ip_address":"192.0.2.7"}`))
	h.stands(s.Ref, hosting.Running)
	h.carry(hosting.Remove{Ref: s.Ref})
	h.stands(s.Ref, hosting.Gone)
	h.quiet()
	h.equal("made", h.engine.creations("site/example.com"), 1)
	h.equal("points", len(dead), 3*6)
	h.equal("left", len(h.engine.all()), 1)
}

func TestRunsForTheEngineSurviveARestart(t *testing.T) {
	url := database(t)
	w := &world{t: t, engine: newEngine(), compute: newCompute(), mail: newMail(), pay: newPayments(), logged: &syncBuffer{}}
	w.Sagas = w.node(url)
	h := &household{w, w.draw("tenant")}
	h.engine.tell(func(string, string) error { return domain.Fail(domain.Transient, "away", errLie) }, nil)
	s := h.ask(h.draw("site"), site("example.com"))
	h.carry(h.newTenant(h.tenant), s)
	h.goes()
	h.eventually("somebody has tried", func() bool { return h.count(`select count(*) from saga_attempt where outcome = 'retry'`) > 0 })
	h.end()
	h.engine.tell(nil, nil)
	h.Sagas = h.node(url)
	h.must(h.Rebuild(t.Context()))
	h.goes()
	h.stands(s.Ref, hosting.Running)
	h.quiet()
	h.equal("made", h.engine.creations("site/example.com"), 1)
}

func TestTheBinIsEmptiedAfterThirtyDays(t *testing.T) {
	clock := &virtual{at: time.Now()}
	h := newHousehold(t, func(o *Options) { o.Now = clock.now })
	s, kept := h.ask(h.draw("site"), site("example.com")), h.ask(h.draw("site"), site("kept.example.com"))
	f := h.ask(h.draw("ftp_account"), &hosting.FTPAccount{Site: s.ID, Username: "ana", Directory: "/", QuotaMB: -1, IsActive: true})
	d := h.ask(h.draw("database"), &hosting.Database{Name: "shop", User: "shop", EngineName: "c1_shop", EngineUser: "c1_shop", Site: &s.ID, IsActive: true})
	h.carry(s, kept, f, d)
	h.goes()
	h.stands(f.Ref, hosting.Running)
	h.stands(d.Ref, hosting.Running)
	h.stands(kept.Ref, hosting.Running)
	h.carry(hosting.Trash{Ref: s.Ref}, hosting.Halt{Ref: f.Ref, By: hosting.BySite}, hosting.Trash{Ref: kept.Ref})
	h.stands(s.Ref, hosting.Running)
	h.eventually("it is off", func() bool { return value(h.has("site", "example.com"), "is_active") == "false" })
	h.carry(hosting.Restore{Ref: kept.Ref})
	h.eventually("its run ends", func() bool { return h.runOf(fmt.Sprintf("grace:site-%d/3", kept.ID)).Status == Done })
	clock.pass(29 * day)
	h.quiet()
	h.equal("after 29 days", h.runOf(fmt.Sprintf("grace:site-%d/3", s.ID)).Status, Ready)
	clock.pass(2 * day)
	h.stands(s.Ref, hosting.Gone)
	h.stands(f.Ref, hosting.Gone)
	h.eventually("the database has no site", func() bool {
		return string(h.resource(d.Ref).Spec["site"]) == "null" && h.resource(d.Ref).SyncStatus == "synced"
	})
	h.equal("site of the database", h.has("database", "c1_shop").Parents["site"], 0)
	h.equal("kept", value(h.has("site", "kept.example.com"), "is_active"), "true")
}

// The run of the first time finds it in the bin, but not since then.
func TestWhatIsThrownAwayAgainHasThirtyDaysAnew(t *testing.T) {
	clock := &virtual{at: time.Now()}
	h := newHousehold(t, func(o *Options) { o.Now = clock.now })
	s := h.ask(h.draw("site"), site("example.com"))
	h.carry(s)
	h.carry(hosting.Trash{Ref: s.Ref})
	h.carry(hosting.Restore{Ref: s.Ref})
	ended := fmt.Sprintf("grace:site-%d/2", s.ID)
	h.fault = func(p point, c claimed) error { // between the end of the wait and the removal
		if p == beforeComplete && c.Key == ended && c.Step == 0 {
			h.carry(hosting.Trash{Ref: s.Ref})
		}
		return nil
	}
	h.goes()
	h.eventually("its run ends", func() bool { return h.runOf(ended).Status == Done })
	h.quiet()
	clock.pass(29 * day)
	h.equal("after 29 days", h.resource(s.Ref).Status, hosting.Running)
	h.equal("off", value(h.has("site", "example.com"), "is_active"), "false")
	clock.pass(2 * day)
	h.stands(s.Ref, hosting.Gone)
}

func TestATerminatedTenantIsPurgedWithAllThatIsIts(t *testing.T) {
	clock := &virtual{at: time.Now()}
	h := newHousehold(t, func(o *Options) { o.Now = clock.now })
	s, z := h.ask(h.draw("site"), site("example.com")), h.ask(h.draw("dns_zone"), &hosting.DNSZone{Origin: "example.com.", TTL: 3600, IsActive: true})
	var commands []domain.Command
	for i := range purged + 1 {
		commands = append(commands, h.ask(h.draw("dns_record"), &hosting.DNSRecord{Zone: z.ID, ZoneOrigin: "example.com.", Type: "A", Name: fmt.Sprintf("h%d", i), Data: "192.0.2.1", TTL: 60, IsActive: true}))
	}
	h.carry(append([]domain.Command{s, z}, commands...)...)
	h.goes()
	h.eventually("all is there", func() bool { return len(h.engine.all()) == purged+4 })
	tenant := hosting.Ref{Kind: "tenant", ID: h.tenant}
	h.carry(hosting.Halt{Ref: s.Ref, By: hosting.BySite}, hosting.Trash{Ref: tenant})
	h.quiet()
	clock.pass(31 * day)
	h.stands(tenant, hosting.Gone)
	h.quiet()
	h.equal("left at the engine", len(h.engine.all()), 0)
}

// An engine may switch everything on along with a change of the tenant.
func TestWhatAnAttemptHasWokenIsPutToSleepAgain(t *testing.T) {
	h := newHousehold(t)
	off := h.ask(h.draw("site"), site("off.example.com"))
	off.Spec["is_active"] = json.RawMessage("false")
	h.carry(off)
	h.goes()
	h.stands(off.Ref, hosting.Running)
	tenant := hosting.Ref{Kind: "tenant", ID: h.tenant}
	for i, how := range []error{
		domain.Fail(domain.Unknown, "timeout", errLie), // and the client is as wanted when we look again
		domain.Fail(domain.Unknown, "woken", errLie),
	} {
		var once sync.Once
		h.engine.tell(nil, func(call, name string) (err error) {
			if call == "change" && name == "tenant/"+hosting.CustomerNumber(h.tenant) {
				once.Do(func() {
					err = how
					h.engine.wake("site/off.example.com")
				})
			}
			return err
		})
		h.carry(set(tenant, fmt.Sprintf(`{"city":"city %d"}`, i)))
		h.eventually("it sleeps", func() bool {
			return h.engine.changes("site/off.example.com") == i+1 && value(h.has("site", "off.example.com"), "is_active") == "false"
		})
		h.quiet()
	}
	h.carry(set(tenant, `{"city":"another"}`))
	h.quiet()
	h.equal("pushed without need", h.engine.changes("site/off.example.com"), 2)
}

// What an order has asked for its own run brings to the engine; what is asked
// later goes the way of everything else.
func TestWhatAnOrderHasMadeIsChangedLikeEverythingElse(t *testing.T) {
	h := &household{newWorld(t), 0}
	id := h.placed(ordering{domain: "ordered.example.com"})
	_, err := h.OpenSession(t.Context(), id)
	h.must(err)
	h.engine.tell(func(call, name string) error {
		if call == "create" && name == "site/ordered.example.com" {
			return domain.Fail(domain.Transient, "busy", errLie)
		}
		return nil
	}, nil)
	h.goes()
	h.paid(id)
	h.eventually("the site is asked for", func() bool {
		return h.provision(id).Job.Site != 0 && h.resource(hosting.Ref{Kind: "site", ID: h.provision(id).Job.Site}).Kind != ""
	})
	ref := hosting.Ref{Kind: "site", ID: h.provision(id).Job.Site}
	h.equal("runs of its own", h.count(`select count(*) from saga_run where about <> ''`), 0)
	h.carry(set(ref, `{"ip_address":"192.0.2.3"}`)) // before the order's run has made it
	h.eventually("it waits for the order", func() bool {
		return h.count(`select count(*) from saga_run where about = $1 and awaits = $1`, ref.Stream().String()) == 1
	})
	h.engine.tell(nil, nil)
	h.becomes(id, order.StatusActive)
	h.eventually("it is as wanted", func() bool { return h.resource(ref).SyncStatus == "synced" && h.resource(ref).Wish == 2 })
	h.equal("address", value(h.has("site", "ordered.example.com"), "ip_address"), `"192.0.2.3"`)
	h.equal("made", h.engine.creations("site/ordered.example.com"), 1)
}

// The tenant of a machine has no place at the engine until it needs one.
func TestATenantGetsItsPlaceWithTheFirstThingInIt(t *testing.T) {
	h := &household{newWorld(t).goes(), 0}
	id := h.buy(ordering{kind: "vps"})
	h.becomes(id, order.StatusActive)
	h.tenant = h.provision(id).Job.Tenant
	client := "tenant/" + hosting.CustomerNumber(h.tenant)
	h.equal("clients", h.engine.creations(client), 0)
	one, two := h.ask(h.draw("site"), site("one.example.com")), h.ask(h.draw("site"), site("two.example.com"))
	h.carry(one, two)
	h.stands(one.Ref, hosting.Running)
	h.stands(two.Ref, hosting.Running)
	h.quiet()
	h.equal("clients", h.engine.creations(client), 1)
	h.equal("asked for", h.often(hosting.Ref{Kind: "tenant", ID: h.tenant}.Stream(), "hosting.push_requested"), 1)
}

// A suspension of many records is one append, with a run for each.
func TestManyRunsStartInOneAppend(t *testing.T) {
	h := newHousehold(t)
	const many = 500
	var ask, halt []domain.Command
	for i := range many {
		s := h.ask(int64(1000+i), site(fmt.Sprintf("s%d.example.com", i)))
		ask, halt = append(ask, s), append(halt, hosting.Halt{Ref: s.Ref, By: hosting.BySite})
	}
	h.carry(ask...)
	begun := time.Now()
	h.carry(halt...)
	t.Logf("%d runs started in %s", many, time.Since(begun))
	h.equal("runs", h.count(`select count(*) from saga_run where about like 'site-%'`), 2*many)
	begun = time.Now()
	h.goes()
	h.eventually("all are off", func() bool {
		return h.count(`select count(*) from resources where kind = 'site' and sync_status = 'synced' and halts <> '{}'`) == many
	})
	t.Logf("and were done in %s", time.Since(begun))
	h.equal("made active", cmp.Or(value(h.has("site", "s7.example.com"), "is_active"), "?"), "false")
}
