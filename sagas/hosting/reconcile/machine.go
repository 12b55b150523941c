package reconcile

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"

	"golang.org/x/crypto/bcrypt"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// machines is the strategy for machines, which a hypervisor has (docs/sagas.md,
// "Machines"). Orders make them. What is wanted later is one call that may be repeated,
// until the machine is as wanted. A machine is ours only with our id, and keeps its name.
type machines struct{ plain }

var errNoMachine = domain.Fail(domain.Permanent, "absent", errors.New("there is no machine with our id"))

// namesake: no resource gives a machine another name.
func (machines) namesake(*desired) projections.Resource { return projections.Resource{} }

// A bought is a machine as an order asks for it. Its print is in the ledger of effects, so
// the names of its fields stay as they are.
type bought struct {
	External, Name, Tag                string
	Cores, MemoryMB, DiskGB, TrafficTB int64
	OS, State, Address                 string
}

// call: an order asks for the machine as it is to be. Later calls need no look-up.
func (m machines) call(a *attempt, run *hosting.Generation) (sagas.Call, error) {
	if !a.want.byOrder {
		return sagas.Call{Request: *run, Repeatable: true}, nil
	}
	spec, err := a.want.machineSpec()
	look := func(ctx context.Context) (sagas.Result, sagas.Found, error) {
		found, is, err := m.find(ctx, &a.want)
		if err != nil || !is || found.Partial {
			return sagas.Result{}, sagas.No, err
		}
		return sagas.Result{External: found.External}, sagas.Yes, nil
	}
	return sagas.Call{Request: bought{
		Name: spec.Name, Tag: spec.Tag, Cores: spec.Cores, MemoryMB: spec.MemoryMB, DiskGB: spec.DiskGB, TrafficTB: spec.TrafficTB,
		OS: spec.OS,
	}, Lookup: look, Undo: a.undo}, err
}

// machineSpec is the machine as its owner wants it.
func (w *desired) machineSpec() (*hosting.Machine, error) {
	m, _ := w.kind.New().(*hosting.Machine)
	return m, w.row.Load(m)
}

// outside is the hypervisor of a machine, and the machine as it is to be there. The password
// is a hash, and is known while the machine is made.
func (m machines) outside(w *desired, password string) (compute.Hypervisor, compute.Machine, error) {
	spec, err := w.machineSpec()
	if err != nil {
		return nil, compute.Machine{}, err
	}
	at, err := m.reconciler.compute.Of(spec.Server)
	return at, spec.Wanted(m.reconciler.installation, w.row.Wish, w.row.Active, password), err
}

// find finds the machine. Where another has its name, an order is refused.
func (m machines) find(ctx context.Context, w *desired) (compute.Seen, bool, error) {
	at, wanted, err := m.outside(w, "")
	if err != nil {
		return compute.Seen{}, false, err
	}
	found, is, err := at.Find(ctx, wanted)
	if err == nil && is && (!found.Ours || found.ID != wanted.ID) {
		if is = false; w.byOrder {
			err = errNotOurs
		}
	}
	return found, is, err
}

func (m machines) create(ctx context.Context, a *attempt) (sagas.Result, error) {
	at, wanted, err := m.withPassword(a)
	var made sagas.Result
	if err == nil {
		made.External, err = at.Create(ctx, wanted)
	}
	return made, err
}

// bring brings the machine to what is wanted. One that is lost is not made again, because
// its data are gone with it, unless another disk is wanted than it had.
func (m machines) bring(ctx context.Context, a *attempt) (sagas.Result, error) {
	spec, err := a.want.machineSpec()
	if err != nil {
		return sagas.Result{}, err
	}
	found, is, err := m.find(ctx, &a.want)
	switch {
	case err != nil:
		return sagas.Result{}, sagas.NothingSent(err)
	case is && found.Partial, !is && spec.Disks > spec.MadeDisks && spec.MadeDisks > 0:
		return m.create(ctx, a)
	case is:
		err = m.change(ctx, a, found)
	default:
		err = errNoMachine
	}
	if sagas.RefusedAs(err, "absent") {
		err = cmp.Or(a.reconciler.afterOrder(ctx, a.want), err)
	}
	return sagas.Result{External: found.External}, err
}

func (m machines) change(ctx context.Context, a *attempt, found compute.Seen) error {
	at, wanted, err := m.withPassword(a)
	if err != nil {
		return err
	}
	return at.Change(ctx, found.External, wanted)
}

func (m machines) remove(ctx context.Context, a *attempt) error {
	found, is, err := m.find(ctx, &a.want)
	switch {
	case err != nil:
		return foreign(sagas.NothingSent(err))
	case !is:
		return nil
	}
	at, wanted, err := m.outside(&a.want, "")
	if err != nil {
		return err
	}
	return at.Remove(ctx, found.External, wanted)
}

// applied is when the machine is as it is wanted to be. One that was ordered has booted when
// it has an address.
func (m machines) applied(ctx context.Context, w *desired) (bool, sagas.Work, error) {
	found, is, err := m.find(ctx, w)
	if err == nil && !is {
		err = sagas.ErrAbsent
	}
	if err != nil {
		return false, sagas.Work{}, err
	}
	_, wanted, err := m.outside(w, "")
	if err != nil {
		return false, sagas.Work{}, err
	}
	observed := field.Values{
		"uuid": sagas.Encode(wanted.ID), "made_disks": sagas.Encode(found.Disk), "made_boots": sagas.Encode(found.Boot),
	}
	if len(found.Addresses) > 0 {
		observed["address"] = sagas.Encode(found.Addresses[0].String())
	}
	booted := wanted.IsSo(found) && (len(found.Addresses) > 0 || !w.byOrder)
	confirm := w.confirm(sagas.Result{External: found.External}, observed)
	return booted, sagas.Work{Commands: []domain.Command{confirm}, Rows: w.shred(), Releases: w.ref.Stream()}, nil
}

// lookTime is how long a look at a machine waits for the hypervisor.
const lookTime = 5 * time.Second

// SeeMachine tells what the hypervisor says of a machine now. False: it does not know the
// machine, or does not answer.
func (r *Reconciler) SeeMachine(ctx context.Context, ref hosting.Ref) (compute.Seen, bool, error) {
	w, err := r.wouldBe(ctx, ref, nil)
	if err != nil || w.row.Kind == "" {
		return compute.Seen{}, false, err
	}
	asking, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	seen, is, err := machines{plain{r}}.find(asking, &w)
	if _, failed := errors.AsType[*domain.Failure](err); failed || asking.Err() != nil {
		return compute.Seen{}, false, nil
	}
	return seen, is, err
}

// Screen connects to the screen of a machine that is as it is wanted to be and runs
// ([compute.Hypervisor.Screen]). One that does not is a permanent failure, "not_running".
func (r *Reconciler) Screen(ctx context.Context, ref hosting.Ref) (screen io.ReadWriteCloser, password string, err error) {
	at, seen, wanted, err := r.known(ctx, ref)
	if err == nil && seen.State != compute.Running {
		err = domain.Fail(domain.Permanent, "not_running", errors.New("the machine does not run"))
	}
	if err != nil {
		return nil, "", err
	}
	return at.Screen(ctx, seen.External, wanted)
}

// MachineUsage reads what a machine uses ([compute.Hypervisor.Usage]).
func (r *Reconciler) MachineUsage(ctx context.Context, ref hosting.Ref) (compute.Usage, error) {
	at, seen, wanted, err := r.known(ctx, ref)
	if err != nil {
		return compute.Usage{}, err
	}
	return at.Usage(ctx, seen.External, wanted)
}

// known is a machine that its hypervisor has. Otherwise it is a permanent failure, "absent".
func (r *Reconciler) known(
	ctx context.Context, ref hosting.Ref,
) (at compute.Hypervisor, seen compute.Seen, wanted compute.Machine, err error) {
	w, err := r.wouldBe(ctx, ref, nil)
	if err != nil {
		return at, seen, wanted, err
	}
	m := machines{plain{r}}
	if at, wanted, err = m.outside(&w, ""); err != nil {
		return at, seen, wanted, err
	}
	seen, is, err := m.find(ctx, &w)
	if err == nil && !is {
		err = errNoMachine
	}
	return at, seen, wanted, err
}

// withPassword is what [machines.outside] returns, with root's password in the form in which
// it reaches a hypervisor: neither that nor the machine's disk has the password itself.
func (m machines) withPassword(a *attempt) (at compute.Hypervisor, wanted compute.Machine, err error) {
	hash := []byte{}
	if password := a.want.object.Secrets["root_password"]; password != "" {
		hash, err = bcrypt.GenerateFromPassword([]byte(password), bcrypt.DefaultCost)
	}
	if err != nil {
		return at, wanted, domain.Fail(domain.Permanent, "invalid", errors.New("the password cannot be hashed"))
	}
	return m.outside(&a.want, string(hash))
}
