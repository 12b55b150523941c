package hosting_test

import (
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

func TestATenantRestsForItsOrderWhateverItsStateIs(t *testing.T) {
	tenant := hosting.Ref{Kind: "tenant", ID: 17}
	asked, rested, roused := hosting.Requested{Kind: "tenant", Tenant: 17},
		hosting.ServiceSuspended{By: hosting.ByOrder}, hosting.ServiceResumed{By: hosting.ByOrder}
	rest, rouse := hosting.SuspendService{Ref: tenant, By: hosting.ByOrder}, hosting.ResumeService{Ref: tenant, By: hosting.ByOrder}
	given(t, asked).When(rest).Then(rested)
	given(t, asked, rested).When(rest).Then()
	given(t, asked, rested).When(rouse).Then(roused)
	given(t, asked).When(rouse).Then()
	given(t, asked, rested, leaving).When(rouse).Then()
	given(t).When(rest).ThenRefused(domain.NotFound, "No Tenant matches the given query.")
	stands(t, hosting.Wanted, asked, rested) // the engine is told nothing
	for _, r := range []struct {
		status  string
		reasons []string
		rests   bool
		closed  bool
	}{
		{hosting.InService, nil, false, false},
		{hosting.Suspended, nil, true, true},
		{hosting.Terminated, nil, true, false},
		{hosting.InService, []string{hosting.ByOrder}, true, true},
	} {
		spec := hosting.Tenant{Status: r.status}
		if spec.OutOfService(r.reasons...) != r.rests || spec.Closed(r.reasons...) != r.closed {
			t.Errorf("%+v", r)
		}
	}
}

func TestOnlyTenantsRest(t *testing.T) {
	for _, c := range []hosting.Command{
		hosting.SuspendService{Ref: site, By: hosting.ByOrder},
		hosting.ResumeService{Ref: hosting.Ref{Kind: "tenant", ID: 17}, By: "mood"},
	} {
		if _, err := hosting.Decider.Decide(hosting.Decider.Replay(requested), c); err == nil || domain.CodeOf(err) != "" {
			t.Error(err)
		}
	}
}

func TestAMachineIsHaltedWithItsTenant(t *testing.T) {
	vm := hosting.Ref{Kind: "vm", ID: 77}
	given(t, hosting.Requested{Kind: "vm", Tenant: 17}, hosting.EngineConfirmed{External: "100"}).
		When(hosting.Disable{Ref: vm, By: hosting.ByTenant}).Then(halted)
}
