package hosting_test

import (
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

var (
	vm       = hosting.Ref{Kind: "vm", ID: 77}
	vmWanted = hosting.Requested{Kind: "vm", Tenant: 17, Spec: values(`{"name":"vm77"}`)}
	vmMade   = hosting.EngineConfirmed{External: "ext-77"}
)

func TestAConsoleIsOpenedOfAMachineThatRuns(t *testing.T) {
	open := hosting.OpenConsole{Ref: vm}
	given(t, vmWanted, vmMade).When(open).Then(hosting.ConsoleOpened{})
	given(t, vmWanted, vmMade, hosting.ConsoleOpened{}).When(open).Then(hosting.ConsoleOpened{})
	given(t, vmWanted, vmMade, halted).When(open).ThenRefused(domain.Conflict, "The virtual server is suspended.")
	given(t, vmWanted, vmMade, leaving).When(open).ThenRefused(domain.NotFound, "No VM matches the given query.")
	given(t).When(open).ThenRefused(domain.NotFound, "No VM matches the given query.")
	stands(t, hosting.Running, vmWanted, vmMade, hosting.ConsoleOpened{}) // the hypervisor is asked nothing
}

func TestThePurposeOfATicketSaysWhatItOpens(t *testing.T) {
	ticket := hosting.ConsoleTicket{Service: uuid.Max, Machine: 77, User: 3, Version: 2, SignIn: ana, InBrowser: true}
	if read, is := hosting.ConsoleTicketOf(ticket.Purpose()); !is || read != ticket || read.Ref() != vm {
		t.Errorf("%v %v", read, is)
	}
	for _, other := range []string{"set_password", "console", "console {"} {
		if read, is := hosting.ConsoleTicketOf(other); is {
			t.Errorf("%s opens %v", other, read)
		}
	}
}
