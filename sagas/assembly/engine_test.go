package assembly_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
	"hostpanel/sagas/assembly"
)

// A household is a tenant with records of its own, at an engine that lies when
// it is told to.
type household struct {
	*world
	tenant int64
}

func newHousehold(t *testing.T, change ...func(*assembly.Options)) *household {
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
	t := &hosting.Tenant{Name: "Ana", Email: "ana@example.com", Slug: hosting.CustomerNumber(id), Username: hosting.CustomerNumber(id), Status: "active", IsActive: true, Limits: hosting.NoLimits().With("cron_jobs", 1_000)}
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

// byHand gives a panel a clock of its own, which the story sets. No process is
// woken by that, so the panel looks often at what is due.
func byHand(now func() time.Time) func(*assembly.Options) {
	const often = 20 * time.Millisecond
	return func(o *assembly.Options) {
		o.Now, o.Times.BillingLook, o.Times.BinLook, o.Times.CertificateLook = now, often, often, often
	}
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
	receipt, err := w.Reconciler.Carry(w.t.Context(), domain.Metadata{Actor: "user:1"}, secrets, commands...)
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

// stands waits until a resource has this status and no open request.
func (w *world) stands(ref hosting.Ref, status hosting.Status) projections.Resource {
	w.t.Helper()
	w.eventually(fmt.Sprintf("%s is %s (it is %+v)", ref.Stream(), status, w.resource(ref)), func() bool { return w.resource(ref).Status == status })
	return w.resource(ref)
}

// quiet waits until all runs of resources are over.
func (w *world) quiet() {
	w.t.Helper()
	w.eventually("every run is over", func() bool {
		return w.count(`select count(*) from saga_run where definition = $1 and status not in ('done', 'undone', 'parked')`, "engine/1") == 0
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
	t.Parallel()
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

func TestARequestIsNotAcknowledgedBeforeTheEngineHasAnswered(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	s := h.ask(h.draw("site"), site("example.com"))
	version := h.carry(s).Versions[s.Stream()]
	acknowledged := func(version int) bool {
		yes, err := h.tables.For(projections.Caller{Tenant: h.tenant}).Acknowledged(t.Context(), s.Ref, version)
		h.must(err)
		return yes
	}
	h.equal("before", acknowledged(version), false)
	h.goes()
	h.stands(s.Ref, hosting.Running)
	h.equal("after", acknowledged(version), true)
	h.engine.tell(func(call, _ string) error {
		if call == "remove" {
			return domain.Fail(domain.Transient, "busy", errLie)
		}
		return nil
	}, nil)
	version = h.carry(hosting.Remove{Ref: s.Ref}).Versions[s.Stream()]
	h.equal("of the removal", acknowledged(version), false)
	h.equal("of a later version", acknowledged(version+1), false)
	h.engine.tell(nil, nil)
	h.stands(s.Ref, hosting.Gone)
	h.equal("after the removal", acknowledged(version), true)
}

func TestAChangeReachesTheEngineAndKeepsThePassword(t *testing.T) {
	t.Parallel()
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

func TestHaltedResourcesAreOffAndComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	on, off := h.ask(h.draw("site"), site("on.example.com")), h.ask(h.draw("site"), site("off.example.com"))
	off.Spec["is_active"] = json.RawMessage("false")
	h.carry(on, off)
	h.goes()
	h.stands(on.Ref, hosting.Running)
	h.stands(off.Ref, hosting.Running)
	h.carry(hosting.Disable{Ref: on.Ref, By: hosting.BySite}, hosting.Disable{Ref: off.Ref, By: hosting.BySite})
	h.eventually("both are off", func() bool {
		return h.resource(on.Ref).SyncStatus == "synced" && h.resource(off.Ref).SyncStatus == "synced"
	})
	h.equal("on", value(h.has("site", "on.example.com"), "is_active"), "false")
	h.equal("active", h.resource(on.Ref).Active, false)
	h.carry(hosting.Enable{Ref: on.Ref, By: hosting.BySite}, hosting.Enable{Ref: off.Ref, By: hosting.BySite})
	h.eventually("both are as they were", func() bool {
		return h.resource(on.Ref).SyncStatus == "synced" && h.resource(off.Ref).SyncStatus == "synced"
	})
	h.equal("on", value(h.has("site", "on.example.com"), "is_active"), "true")
	h.equal("off", value(h.has("site", "off.example.com"), "is_active"), "false")
}

func TestASecretThatIsGoneHasToBeSentAgain(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	d, b := h.ask(h.draw("mail_domain"), &hosting.MailDomain{Domain: "example.com", IsActive: true}), uuid.New()
	box := h.ask(h.draw("mailbox"), mailbox(d.ID, "ana", b.String()))
	h.carry(d, box) // without a stored password
	h.goes()
	row := h.stands(box.Ref, hosting.Refused)
	h.equal("sync", row.SyncStatus+" "+row.SyncError, "error secret_needed")
	next := uuid.New()
	h.carrying(map[uuid.UUID]string{next: "pass-word-2"}, set(box.Ref, fmt.Sprintf(`{"password":%q}`, next)))
	h.stands(box.Ref, hosting.Running)
	h.equal("password", h.has("mailbox", "ana@example.com").Secrets["password"], "pass-word-2")
}

// The run of the first time finds it in the bin, but not since then.
func TestWhatIsThrownAwayAgainHasThirtyDaysAnew(t *testing.T) {
	t.Parallel()
	clock := &virtual{at: time.Now()}
	h := newHousehold(t, byHand(clock.now))
	s := h.ask(h.draw("site"), site("example.com"))
	h.carry(s)
	h.carry(hosting.MoveToBin{Ref: s.Ref})
	h.carry(hosting.Restore{Ref: s.Ref})
	ended := fmt.Sprintf("grace:site-%d/2", s.ID)
	h.fault.to(func(p sagas.Point, c sagas.Run) error { // between the end of the wait and the removal
		if p == sagas.BeforeComplete && c.Key == ended && c.Step == 0 {
			h.carry(hosting.MoveToBin{Ref: s.Ref})
		}
		return nil
	})
	h.goes()
	h.eventually("its run ends", func() bool { return h.runOf(ended).Status == sagas.StatusDone })
	h.quiet()
	clock.pass(29 * day)
	h.equal("after 29 days", h.resource(s.Ref).Status, hosting.Running)
	h.equal("off", value(h.has("site", "example.com"), "is_active"), "false")
	clock.pass(2 * day)
	h.stands(s.Ref, hosting.Gone)
}
