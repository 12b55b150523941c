package hosting_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/domaintest"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

var (
	ana  = uuid.MustParse("0a7a0d6e-0000-4000-8000-00000000000a")
	site = hosting.Ref{Kind: "site", ID: 42}

	spec      = (&hosting.Site{Domain: "example.com", IPAddress: "*", IsActive: true}).Fields().Values()
	requested = hosting.Requested{Kind: "site", Tenant: 17, Spec: spec, For: "order:6f1c"}
	made      = hosting.EngineConfirmed{EngineID: 9, Observed: values(`{"document_root":"/var/www/c9"}`)}
	off       = values(`{"is_active":false}`)
	changed   = hosting.Changed{Spec: off}
	leaving   = hosting.RemovalRequested{}
	refused   = hosting.EngineRefused{Code: "name_taken"}
)

func values(text string) field.Values {
	v := field.Values{}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	return v
}

func given(t *testing.T, history ...hosting.Event) *domaintest.Story[hosting.Resource, hosting.Command, hosting.Event] {
	return domaintest.Given(t, hosting.Decider, history)
}

func confirm(version int) hosting.Confirm {
	return hosting.Confirm{Ref: site, EngineID: 9, Observed: made.Observed, Version: version}
}

func confirmed(version int) hosting.EngineConfirmed {
	c := made
	c.Version = version
	return c
}

func TestAResourceIsAskedForOnce(t *testing.T) {
	request := hosting.Request{Ref: site, Tenant: 17, Spec: spec, For: "order:6f1c"}
	given(t).When(request).Then(requested)
	given(t, requested).When(request).Then()
	given(t, requested, made).When(request).Then()
	request.For = ""
	given(t, requested).When(request).ThenRefused(domain.Conflict, "Site 42 exists.")
	request.Kind = "castle"
	given(t).When(request).ThenRefused(domain.Invalid, `There is no kind "castle".`)
}

func TestTheEngineMakesWhatWasWanted(t *testing.T) {
	given(t, requested).When(confirm(0)).Then(made)
	given(t, requested).When(confirm(1)).Then(confirmed(1))
	given(t, requested, made).When(confirm(0)).Then() // it repeats itself
	given(t, requested, made).When(confirm(1)).Then()
}

// A machine gets its address some time after its creation.
func TestWhatTheEngineObservesLaterIsKept(t *testing.T) {
	address := hosting.Confirm{Ref: site, Observed: values(`{"address":"192.0.2.7"}`)}
	seen := hosting.EngineConfirmed{Observed: address.Observed}
	given(t, requested, made).When(address).Then(seen)
	given(t, requested, made, seen).When(address).Then()
	stands(t, hosting.Running, requested, made, seen)
	if r := hosting.Decider.Replay(requested, made, seen); r.EngineID != 9 || len(r.Observed) != 2 {
		t.Errorf("%+v", r)
	}
}

func TestAChangeWaitsForTheEngine(t *testing.T) {
	given(t, requested, made).When(hosting.Change{Ref: site, Spec: off}).Then(changed)
	given(t, requested, made).When(hosting.Change{Ref: site}).Then()
	stands(t, hosting.Changing, requested, made, changed)
	stands(t, hosting.Running, requested, made, changed, confirmed(3))
	stands(t, hosting.Wanted, requested, changed) // not created yet
}

// An answer to an earlier request does not confirm the last one.
func TestAnAnswerToAnEarlierRequestIsLate(t *testing.T) {
	given(t, requested, made, changed, changed).When(confirm(3)).Then()
	stands(t, hosting.Changing, requested, made, changed, changed)
	given(t, requested, made, changed, changed).When(confirm(4)).Then(confirmed(4))

	// a late answer still records the engine's id
	given(t, requested, changed).When(confirm(1)).Then(confirmed(1))
	stands(t, hosting.Changing, requested, changed, confirmed(1))
	stands(t, hosting.Running, requested, made, changed, confirmed(3), confirmed(1))
	stands(t, hosting.Refused, requested, changed, refused, confirmed(1))
	given(t, requested, changed).When(hosting.Decline{Ref: site, Code: "busy", Version: 1}).Then()
	given(t, requested, changed, hosting.EngineRefused{Code: "x"}).When(confirm(2)).Then(confirmed(2))
	given(t, requested, made, changed, hosting.EngineRefused{Code: "x"}).When(confirm(1)).Then()
}

func TestARemovedResourceIsGoneWhenTheEngineSaysSo(t *testing.T) {
	gone := hosting.Confirm{Ref: site}
	given(t, requested, made).When(hosting.Remove{Ref: site}).Then(leaving)
	given(t, requested, made, leaving).When(hosting.Remove{Ref: site}).Then()
	given(t, requested, made, leaving).When(gone).Then(hosting.Removed{})
	given(t, requested, made, leaving, hosting.Removed{}).When(gone).Then()
	given(t, requested, made, leaving, hosting.Removed{}).When(hosting.Remove{Ref: site}).Then()
	given(t, requested, made, leaving, hosting.Removed{}).When(confirm(1)).Then()
	given(t, requested, made, leaving).When(hosting.Confirm{Ref: site, Version: 1}).Then() // answers the first request
}

// A creation confirmed after the removal request records the engine's id. The
// resource still has to be removed.
func TestALateCreationIsKnownButNotBack(t *testing.T) {
	given(t, requested, leaving).When(confirm(1)).Then(confirmed(1))
	stands(t, hosting.Leaving, requested, leaving, confirmed(1))
	given(t, requested, leaving, confirmed(1)).When(confirm(1)).Then()
	if r := hosting.Decider.Replay(requested, leaving, confirmed(1)); r.EngineID != 9 {
		t.Errorf("engine id %d", r.EngineID)
	}
}

func TestTheEngineMayRefuse(t *testing.T) {
	decline := hosting.Decline{Ref: site, Code: "name_taken"}
	given(t, requested).When(decline).Then(refused)
	given(t, requested, refused).When(decline).Then()
	given(t, requested, made).When(decline).Then()
	stands(t, hosting.Refused, requested, refused)
	stands(t, hosting.Refused, requested, made, changed, refused)
	stands(t, hosting.Wanted, requested, refused, changed) // tried again
	stands(t, hosting.Changing, requested, made, changed, refused, changed)
	given(t, requested, refused).When(confirm(0)).Then(made) // it was made after all
	stands(t, hosting.Running, requested, refused, made)

	given(t, requested, made, leaving).When(decline).Then(refused) // the removal is still wanted
	stands(t, hosting.Leaving, requested, made, leaving, refused)
	given(t, requested, made, leaving, refused).When(decline).Then()
}

// The engine may refuse what it has accepted before, as long as nothing else has
// been asked for.
func TestTheEngineMayRefuseWhatItHasAccepted(t *testing.T) {
	late := hosting.EngineRefused{Code: "engine_refused"}
	decline := hosting.Decline{Ref: site, Code: late.Code, Version: 1}
	given(t, requested, confirmed(1)).When(decline).Then(late)
	given(t, requested, confirmed(1), late).When(decline).Then()
	given(t, requested, confirmed(1), changed).When(decline).Then() // it answers an earlier request
	given(t, requested, confirmed(1), changed, confirmed(3)).When(decline).Then()
	stands(t, hosting.Refused, requested, confirmed(1), late)
	stands(t, hosting.Changing, requested, confirmed(1), late, changed) // tried again
}

func TestWhatIsNotThereCannotBeChanged(t *testing.T) {
	for _, history := range [][]hosting.Event{nil, {requested, made, leaving}, {requested, made, leaving, hosting.Removed{}}} {
		given(t, history...).When(hosting.Change{Ref: site, Spec: off}).
			ThenRefused(domain.NotFound, "No Site matches the given query.")
	}
	given(t).When(hosting.Remove{Ref: site}).ThenRefused(domain.NotFound, "No Site matches the given query.")
	given(t).When(confirm(1)).Then()
	given(t).When(hosting.Decline{Ref: site, Code: "x"}).Then()
}

func stands(t *testing.T, want hosting.Status, history ...hosting.Event) {
	t.Helper()
	r := hosting.Decider.Replay(history...)
	if r.Status != want || r.TenantID() != 17 || r.Version != len(history) {
		t.Errorf("%s of tenant %d at version %d, want %s", r.Status, r.TenantID(), r.Version, want)
	}
}

// C-6: the personal fields are in one separate text, which the log seals.
func TestATenantsPersonalFieldsAreApart(t *testing.T) {
	want := (&hosting.Tenant{Name: "Ana Ruiz", Email: "ana@example.com", Phone: "600", Language: "es", Username: "t17"}).Fields().Values()
	events, err := hosting.Decider.Decide(hosting.Resource{}, hosting.Request{
		Ref: hosting.Ref{Kind: "tenant", ID: 17}, Tenant: 17, Spec: want, Subject: ana,
	})
	if err != nil || len(events) != 1 {
		t.Fatal(events, err)
	}
	e := events[0].(hosting.Requested)
	for _, name := range []string{
		"name", "email", "slug", "phone", "contact_name", "company_name", "tax_id", "address", "city", "postal_code",
	} {
		if _, open := e.Spec[name]; open {
			t.Errorf("%s stands in the open", name)
		}
	}
	var back, kept hosting.Tenant
	if err := back.Fields().Load(e.Values()); err != nil || back.Name != "Ana Ruiz" || back.Username != "t17" {
		t.Errorf("%+v (%v)", back, err)
	}
	e.Personal = "" // erased
	if err := kept.Fields().Load(e.Values()); err != nil || kept.Name != "" || kept.Username != "t17" || e.SubjectID != ana {
		t.Errorf("%+v (%v)", kept, err)
	}

	changes, err := hosting.Decider.Decide(hosting.Decider.Replay(e), hosting.Change{
		Ref: hosting.Ref{Kind: "tenant", ID: 17}, Spec: values(`{"phone":"601","language":"en"}`),
	})
	c := changes[0].(hosting.Changed)
	if err != nil || c.SubjectID != ana || string(c.Values()["phone"]) != `"601"` || len(c.Spec) != 1 {
		t.Errorf("%+v (%v)", changes, err)
	}
}

func TestEventsAreReadForever(t *testing.T) {
	domaintest.Golden(t, hosting.EventTypes,
		hosting.Requested{
			Kind: "tenant", Tenant: 17, Spec: values(`{"language":"es","username":"t17"}`), SubjectID: ana,
			Personal: `{"name":"Ana Ruiz"}`, For: "order:6f1c",
		},
		hosting.Changed{Spec: values(`{"language":"en"}`), SubjectID: ana, Personal: `{"phone":"601"}`},
		hosting.EngineConfirmed{EngineID: 9, External: "qemu/100", Observed: values(`{"document_root":"/var/www/c9"}`), Version: 1},
		leaving, hosting.Removed{}, refused,
		hosting.Disabled{By: hosting.ByTenant}, hosting.Enabled{By: hosting.BySite},
		hosting.ServiceSuspended{By: hosting.ByOrder}, hosting.ServiceResumed{By: hosting.ByOrder}, hosting.MovedToBin{},
		hosting.Restored{},
		hosting.CertificateOrdered{At: noon, Names: []string{"shop.example.com"}}, issued, failed(noon), expiring, expired,
		hosting.PushRequested{}, hosting.Synced{}, hosting.ConsoleOpened{}, hosting.PasswordShown{},
		hosting.TrafficReached{Month: "2026-11", Percent: 80, LimitTB: 2}, hosting.TrafficSlowed{Before: 100}, hosting.TrafficFreed{},
		hosting.Adopted{Spec: values(`{"quota_mb":512}`), SubjectID: ana, Personal: `{"name":"Ana Ruiz"}`},
		anyQueued, hosting.OperationStarted{}, hosting.OperationFailed{Code: "docroot_not_empty"},
		hosting.OperationProgressed{
			Result: values(`{"missing":1}`), SubjectID: ana, Personal: `{"drift":[]}`,
			Pushed: []hosting.PushedRequest{{Kind: "site", ID: 42, Wish: 7, New: true}},
		},
		hosting.OperationSucceeded{Result: values(`{"url":"https://example.com/"}`)},
	)
	personal := domain.NewCatalogue(hosting.EventTypes)
	for _, name := range []string{"hosting.requested", "hosting.changed", "hosting.adopted", "operation.progressed"} {
		if personal.Personal(name)["personal"] != domain.Contact {
			t.Errorf("%s is not sealed", name)
		}
	}
}

// A purge removes only resources that have stayed in the bin.
func TestWhatWasBroughtBackIsNotPurged(t *testing.T) {
	purge := hosting.Purge{Ref: site, Since: 3}
	given(t, requested, made, hosting.MovedToBin{}).When(purge).Then(leaving)
	given(t, requested, made, hosting.MovedToBin{}, leaving).When(purge).Then()
	given(t, requested, made, hosting.MovedToBin{}, hosting.Restored{}).When(purge).ThenRefused(domain.Conflict, "It has left the bin.")
	given(t, requested, made, hosting.MovedToBin{}, hosting.Restored{}, hosting.MovedToBin{}).When(purge).ThenRefused(
		domain.Conflict, "It has left the bin.",
	)
}
