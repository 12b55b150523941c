package reconcile

import (
	"cmp"
	"context"
	"errors"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// machines is the strategy for machines, which the hypervisor has (docs/sagas.md,
// "Machines"). Orders make them. What is wanted of one later is that it is on, off or
// gone: doing that again changes nothing. A machine is ours only with our tag, and keeps
// its name.
type machines struct{ plain }

var errNoMachine = domain.Fail(domain.Permanent, "absent", errors.New("there is no machine with our tag"))

// namesake: no resource gives a machine another name.
func (machines) namesake(*desired) projections.Resource { return projections.Resource{} }

// call: an order asks for the machine as it is to be. Later calls need no look-up.
func (m machines) call(a *attempt, run *hosting.Generation) (sagas.Call, error) {
	if !a.want.byOrder {
		return sagas.Call{Request: *run, Repeatable: true}, nil
	}
	vm, err := a.want.vm()
	look := func(ctx context.Context) (sagas.Result, sagas.Found, error) {
		found, is, err := m.find(ctx, &a.want)
		if err != nil || !is {
			return sagas.Result{}, sagas.No, err
		}
		return sagas.Result{External: found.External}, sagas.Yes, nil
	}
	return sagas.Call{Request: vm, Lookup: look, Undo: a.undo}, err
}

// vm is the machine as it was bought.
func (w *desired) vm() (hosting.VM, error) {
	var m hosting.Machine
	err := w.row.Load(&m)
	return m.VM(), err
}

// find finds the machine. Where another has its name, an order is refused.
func (m machines) find(ctx context.Context, w *desired) (hosting.VM, bool, error) {
	found, is, err := m.reconciler.compute.FindVM(ctx, w.object.Ref, w.object.Name)
	if err == nil && is && found.Tag != w.object.Ref {
		if is = false; w.byOrder {
			err = errNotOurs
		}
	}
	return found, is, err
}

func (m machines) create(ctx context.Context, a *attempt) (sagas.Result, error) {
	vm, err := a.want.vm()
	if err != nil {
		return sagas.Result{}, err
	}
	external, err := m.reconciler.compute.CreateVM(ctx, vm)
	return sagas.Result{External: external}, err
}

// bring switches the machine on or off. One that is lost is not made again: its data
// are gone with it.
func (m machines) bring(ctx context.Context, a *attempt) (sagas.Result, error) {
	found, is, err := m.find(ctx, &a.want)
	switch {
	case err != nil:
		return sagas.Result{}, sagas.NothingSent(err)
	case is:
		err = m.reconciler.compute.SwitchVM(ctx, found.External, a.want.row.Active)
	default:
		err = errNoMachine
	}
	if sagas.RefusedAs(err, "absent") {
		err = cmp.Or(a.reconciler.afterOrder(ctx, a.want), err)
	}
	return sagas.Result{External: found.External}, err
}

func (m machines) remove(ctx context.Context, a *attempt) error {
	found, is, err := m.find(ctx, &a.want)
	switch {
	case err != nil:
		return foreign(sagas.NothingSent(err))
	case !is:
		return nil
	}
	return m.reconciler.compute.RemoveVM(ctx, found.External)
}

// applied is when the machine is on or off as it is wanted to be. One that was ordered
// has booted when it has an address.
func (m machines) applied(ctx context.Context, w *desired) (bool, sagas.Work, error) {
	found, is, err := m.find(ctx, w)
	if err == nil && !is {
		err = sagas.ErrAbsent
	}
	if err != nil {
		return false, sagas.Work{}, err
	}
	observed := field.Values{}
	if found.Address != "" {
		observed["address"] = sagas.Encode(found.Address)
	}
	wanted := map[bool]string{true: "running", false: "stopped"}[w.row.Active]
	booted := found.State == wanted && (found.Address != "" || !w.byOrder)
	confirm := w.confirm(sagas.Result{External: found.External}, observed)
	return booted, sagas.Work{Commands: []domain.Command{confirm}, Releases: w.ref.Stream()}, nil
}

// lookTime is how long a look at a machine waits for the hypervisor.
const lookTime = 5 * time.Second

// SeeMachine tells what the hypervisor says of a machine now. False: it does not know the
// machine, or does not answer.
func (r *Reconciler) SeeMachine(ctx context.Context, ref hosting.Ref) (hosting.VM, bool, error) {
	w, err := r.wouldBe(ctx, ref, nil)
	if err != nil || w.row.Kind == "" {
		return hosting.VM{}, false, err
	}
	asking, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	seen, is, err := machines{plain{r}}.find(asking, &w)
	if _, failed := errors.AsType[*domain.Failure](err); failed || asking.Err() != nil {
		return hosting.VM{}, false, nil
	}
	return seen, is, err
}
