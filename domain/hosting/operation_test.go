package hosting_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/domaintest"
	"hostpanel/domain/hosting"
)

var (
	job     = uuid.MustParse("70b00000-0000-4000-8000-00000000000a")
	install = &hosting.Installation{
		CMS: "wordpress", Version: "6.8", Domain: "example.com", AdminUser: "admin", Directory: "/blog",
		URL: "https://example.com/blog", Database: 7, Generated: true,
	}
	everywhere = &hosting.Sync{Repair: true}

	installQueued = hosting.OperationQueued{
		Kind: hosting.InstallCMS, Tenant: 17, User: 3, ResourceType: "site", ResourceID: 42, Install: install,
	}
	anyQueued = hosting.OperationQueued{
		Kind: hosting.InstallCMS, Tenant: 17, User: 3, ResourceType: "site", ResourceID: 42, Install: install,
		Sync: everywhere,
	}
	syncQueued = hosting.OperationQueued{
		Kind: hosting.TenantSync, Tenant: 17, User: 3, ResourceType: "tenant", ResourceID: 17, Sync: everywhere,
	}
	begun    = hosting.OperationStarted{}
	broken   = hosting.OperationFailed{Code: "not_supported"}
	wellDone = hosting.OperationSucceeded{Result: values(`{"cms":"wordpress"}`)}
)

// An operation is asked for, begins, and ends once; what comes later comes to
// nothing.
func TestAnOperationEndsOnce(t *testing.T) {
	queue := hosting.QueueOperation{ID: job, Kind: hosting.InstallCMS, Tenant: 17, User: 3, About: site, Install: install}
	start, fail := hosting.StartOperation{ID: job}, hosting.FailOperation{ID: job, Code: "not_supported"}
	succeed := hosting.SucceedOperation{ID: job, Result: wellDone.Result}
	operation := func(
		history ...hosting.OperationEvent,
	) *domaintest.Story[hosting.Operation, hosting.OperationCommand, hosting.OperationEvent] {
		return domaintest.Given(t, hosting.Operations, history)
	}
	operation().When(queue).Then(installQueued)
	operation(installQueued).When(queue).Then()
	operation().When(start).Then()
	operation().When(succeed).Then()
	operation().When(fail).Then()
	operation(installQueued).When(start).Then(begun)
	operation(installQueued, begun).When(start).Then()
	operation(installQueued, begun).When(succeed).Then(wellDone)
	operation(installQueued, begun).When(fail).Then(broken)
	operation(installQueued).When(fail).Then(broken)
	operation(installQueued, begun, broken).When(succeed).Then()
	operation(installQueued, begun, wellDone).When(fail).Then()
	operation(installQueued, begun, wellDone).When(start).Then()
}

func TestASyncTellsWhatItHasPushed(t *testing.T) {
	pushed := []hosting.PushedRequest{{Kind: "site", ID: 42, Wish: 7}}
	progressed := hosting.OperationProgressed{Result: values(`{"missing":0}`), SubjectID: ana, Personal: `{"drift":[]}`, Pushed: pushed}
	progress := hosting.ProgressOperation{
		ID: job, Result: progressed.Result, Subject: ana, Personal: values(`{"drift":[]}`), Pushed: pushed,
	}
	domaintest.Given(t, hosting.Operations, []hosting.OperationEvent{syncQueued, begun}).When(progress).Then(progressed)
	domaintest.Given(t, hosting.Operations, []hosting.OperationEvent{syncQueued, begun, broken}).When(progress).Then()
	domaintest.Given(t, hosting.Operations, nil).When(progress).Then()
	after := hosting.Operations.Replay(syncQueued, begun, progressed)
	if len(after.Pushed) != 1 || after.Over() || string(progressed.Values()["drift"]) != "[]" {
		t.Errorf("%+v", after)
	}
}

// What is pushed once more is wanted once more, whatever state it was in.
func TestAPushIsARequestOfItsOwn(t *testing.T) {
	push := hosting.Push{Ref: site}
	given(t).When(push).Then()
	for _, history := range [][]hosting.Event{{requested}, {requested, made}, {requested, made, leaving}, {requested, refused}} {
		given(t, history...).When(push).Then(hosting.PushRequested{})
	}
	given(t, requested, made, leaving, hosting.Removed{}).When(push).Then()
	stands(t, hosting.Wanted, requested, hosting.PushRequested{})
	stands(t, hosting.Wanted, requested, refused, hosting.PushRequested{})
	stands(t, hosting.Changing, requested, made, hosting.PushRequested{})
	stands(t, hosting.Leaving, requested, made, leaving, hosting.PushRequested{})
	given(t, requested, made, hosting.PushRequested{}).When(confirm(1)).Then() // which is late
	given(t, requested, made, hosting.PushRequested{}).When(confirm(3)).Then(confirmed(3))
}

// What is taken over from the engine need not be told to it.
func TestAnAdoptionIsNoRequest(t *testing.T) {
	adopt := hosting.Adopt{Ref: site, Spec: off}
	given(t, requested, made).When(adopt).Then(hosting.Adopted{Spec: off})
	given(t, requested, made).When(hosting.Adopt{Ref: site}).Then()
	given(t, requested, made, leaving).When(adopt).ThenRefused("not_found", "No Site matches the given query.")
	stands(t, hosting.Running, requested, made, hosting.Adopted{Spec: off})
	given(t, requested, made).When(hosting.MarkSynced{Ref: site}).Then(hosting.Synced{})
	given(t).When(hosting.MarkSynced{Ref: site}).Then()
}

// What is in the log for ever, but not in the example of the event.
func TestAQueuedEvidencePackKeepsItsShape(t *testing.T) {
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	queued := hosting.OperationQueued{
		Kind: hosting.EvidencePack, Tenant: 17, User: 3,
		Pack: &hosting.EvidenceOrder{Order: job, Tenant: 17, From: at, To: at.Add(time.Hour)},
	}
	const stored = `{"kind":"evidence_pack","tenant":17,"user":3,` +
		`"pack":{"order":"70b00000-0000-4000-8000-00000000000a","tenant":17,"from":"2026-05-01T10:00:00Z","to":"2026-05-01T11:00:00Z"}}`
	if text, err := json.Marshal(queued); err != nil || string(text) != stored {
		t.Errorf("%s %v", text, err)
	}
	var again hosting.OperationQueued
	if err := json.Unmarshal([]byte(stored), &again); err != nil || !reflect.DeepEqual(again, queued) {
		t.Errorf("%+v %v", again, err)
	}
	state := hosting.Operations.Replay(queued)
	if state.Pack == nil || *state.Pack != *queued.Pack {
		t.Errorf("%+v", state)
	}
}

// A rebuild of a read table is about its name, and remembers where it was compared.
func TestARebuildOfAReadTableKeepsItsShape(t *testing.T) {
	queue := hosting.QueueOperation{ID: job, Kind: hosting.ProjectionRebuild, User: 1, Projection: "orders"}
	queued := hosting.OperationQueued{Kind: hosting.ProjectionRebuild, User: 1, Projection: "orders"}
	compared := hosting.OperationProgressed{Result: values(`{"different":2}`), Compared: 4711}
	domaintest.Given(t, hosting.Operations, nil).When(queue).Then(queued)
	domaintest.Given(t, hosting.Operations, []hosting.OperationEvent{queued, begun}).
		When(hosting.ProgressOperation{ID: job, Result: compared.Result, Compared: 4711}).Then(compared)
	if o := hosting.Operations.Replay(queued, begun, compared); o.Projection != "orders" || o.Compared != 4711 {
		t.Errorf("%+v", o)
	}
	for stored, e := range map[string]hosting.OperationEvent{
		`{"kind":"projection_rebuild","user":1,"projection":"orders"}`: queued,
		`{"result":{"different":2},"compared":4711}`:                   compared,
	} {
		if text, err := json.Marshal(e); err != nil || string(text) != stored {
			t.Errorf("%s %v", text, err)
		}
	}
	if says := queued.Says() +
		"; " + compared.Says(); says != "asked for: projection rebuild, orders; compared with the log, up to event 4711" {
		t.Error(says)
	}
}
