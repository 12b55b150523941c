package hosting_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/crypto/bcrypt"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/projections"
	resources "hostpanel/sagas/hosting"
	"hostpanel/sagas/sagastest"
)

// Who buys a machine gets a machine, and nothing of the hosting engine.
func TestTheBuyerOfAMachineGetsNoSites(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	_, _, tenant := sagastest.Machine(w)
	request := hosting.Request{
		Ref: hosting.Ref{Kind: "site", ID: w.Draw("site")}, Tenant: tenant.ID,
		Spec: sagastest.Site("more.example").Fields().Values(),
	}
	_, err := w.Reconciler.Carry(t.Context(), domain.Metadata{Actor: "user:1"}, nil, request)
	w.Equal("a site", fmt.Sprint(err), "non_field_errors: Limit reached: sites.")
	kind, _ := hosting.KindNamed("mail_domain")
	used, most, err := w.Tables.For(projections.System).Hosting().Limit(t.Context(), kind, tenant.ID)
	w.Must(err)
	w.Equal("mail domains", fmt.Sprint(used, " of ", most), "0 of 0")
}

func TestAMachineThatIsNotThereCannotBeSwitched(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	id, vm, _ := sagastest.Machine(w)
	w.Compute.Forget()
	w.Carry(hosting.Disable{Ref: vm, By: hosting.BySite})
	w.Eventually("it is refused", func() bool { return w.Resource(vm).SyncError == "absent" })
	w.Compute.Put(compute.Seen{Name: hosting.MachineName(vm.ID), ID: uuid.New(), State: compute.Running})
	w.Carry(hosting.Remove{Ref: vm}) // the machine with its name has another owner
	w.Stands(vm, hosting.Gone)
	w.Equal("machines", len(w.Compute.All()), 1)
	w.Equal("order", w.Order(id).Status, order.StatusActive)
}

// A system that is installed without a key has a password, which its owner is shown once. It
// ends with the machine, and with the person who has bought it.
func TestAMachineWithoutAKeyHasAPasswordThatIsShownOnce(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t).Goes()
	acts := resources.Machines{Service: resources.New(resources.Options{
		Tables: w.Tables, Resources: w.Reconciler, Numbers: w.Store, Subjects: w.Store,
	})}
	cause := domain.Metadata{Actor: "user:7"}
	id, vm, _ := sagastest.Machine(w)
	name := hosting.MachineName(vm.ID)
	waiting := func() int {
		return w.Count(`select count(*) from secret_handoff where effect_key like 'shown/%' or purpose = 'engine'`)
	}
	shown := func() string {
		password, err := acts.ShowPassword(t.Context(), cause, w.Resource(vm))
		w.Must(err)
		w.Must(bcrypt.CompareHashAndPassword([]byte(w.Compute.Password(name)), []byte(password)))
		_, err = acts.ShowPassword(t.Context(), cause, w.Resource(vm))
		w.Equal("the second time", err, error(hosting.ErrNoPassword))
		w.Equal("secrets that wait", waiting(), 0)
		w.Equal("texts with it in the log", w.Count(`select count(*) from events where position($1 in events::text) > 0`, password), 0)
		return password
	}
	reinstalls := func(keys ...string) {
		row := w.Resource(vm)
		d, err := row.Draft()
		w.Must(err)
		act, _ := hosting.MachineActNamed("reinstall")
		f := act.FormOf()
		f.Keys, f.Confirm, f.Sent = keys, name, f.Fields().Only("ssh_keys")
		_, err = acts.Act(t.Context(), func(domain.Versions) domain.Metadata { return cause }, projections.System, d, f)
		w.Must(err)
		w.Powered(vm, "running")
	}
	first := shown()
	reinstalls()
	w.Equal("the same password", shown() == first, false)
	const told = `select count(*) from events where name = 'hosting.password_shown' and actor = 'user:7'`
	w.Equal("events that say who saw it", w.Count(told), 2)
	reinstalls("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJqJCJkLWjXWrdq2xzNWPGQwy4cqzkXLrqIUwMDqQ7Gy")
	w.Equal("with a key", fmt.Sprint(w.Compute.Password(name), waiting()), "0")
	reinstalls()
	w.Equal("secrets that wait to be shown", waiting(), 1)
	w.Carry(hosting.Remove{Ref: vm})
	w.Stands(vm, hosting.Gone)
	w.Equal("secrets of a machine that has ended", waiting(), 0)

	other := w.Buy(sagastest.OrderForm{Kind: "vps", Email: "eva@example.com"})
	w.Becomes(other, order.StatusActive)
	w.Equal("another machine's", fmt.Sprint(waiting(), other == id), "1 false")
	w.Must(w.Accounts.Erase(t.Context(), cause, w.Provision(other).Job.User))
	w.Equal("secrets of a person who was erased", waiting(), 0)
}
