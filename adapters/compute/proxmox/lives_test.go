package proxmox_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/adapters/compute/proxmox"
	"hostpanel/adapters/compute/proxmox/proxmoxtest"
	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// lives is how many machines live at once in the story below.
const lives = 40

// Forty machines live at once while one answer in ten is lost, and the panel ends in the
// middle of calls. Each machine is there once, as it is wanted; nothing is left of others.
func TestManyMachinesLiveAtOnce(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	pve := cluster(t)
	before := len(pve.Volumes())
	lost := disturb(pve, seed)
	var all sync.WaitGroup
	wanted := make([]*compute.Machine, lives)
	for n := range lives {
		all.Go(func() {
			l := &livingMachine{T: t, pve: pve, random: rand.New(rand.NewPCG(seed, uint64(n))), m: vm77()}
			l.m.Name, l.m.Service = fmt.Sprintf("vm%d", n), fmt.Sprintf("order-%d", n)
			l.m.ID, l.m.Hostname, l.m.Network = compute.ID("ours", l.m.Service), "", compute.Network{}
			wanted[n] = l.live()
		})
	}
	all.Wait()
	pve.Faults.LoseAnswersOf(nil)
	there := 0
	for n, m := range wanted {
		if m == nil {
			continue
		}
		there++
		seen := found(t, panel(t, pve, "ours", nil), *m)
		if !m.IsSo(seen) || !seen.Ours || pve.Clones(1000+int64(n)) != 1 {
			t.Errorf("%+v, and %d clones", seen, pve.Clones(1000+int64(n)))
		}
	}
	if machines, volumes := len(pve.Machines()), len(pve.Volumes())-before; machines != there || volumes != 2*there {
		t.Errorf("%d machines and %d volumes are there, for %d orders", machines, volumes, there)
	}
	if lost.Load() < lives {
		t.Errorf("only %d answers were lost", lost.Load())
	}
}

// disturb loses one answer in ten of those that change something.
func disturb(pve *proxmoxtest.Server, seed uint64) *atomic.Int64 {
	lost := new(atomic.Int64)
	random := rand.New(rand.NewPCG(seed, lives))
	pve.Faults.LoseAnswersOf(func(method, _ string) bool {
		loses := method != "GET" && random.IntN(10) == 0
		if loses {
			lost.Add(1)
		}
		return loses
	})
	return lost
}

type livingMachine struct {
	*testing.T
	pve    *proxmoxtest.Server
	random *rand.Rand
	m      compute.Machine
}

// live makes a machine and changes it; the answer is how it is wanted in the end, nil: gone.
func (l *livingMachine) live() *compute.Machine {
	external := fmt.Sprint(1000 + whole(l.m.Name[2:]))
	l.repeat(func(ctx context.Context, h *proxmox.Hypervisor) error { _, err := h.Create(ctx, l.m); return err })
	for range 4 {
		l.m.Generation++
		switch l.random.IntN(5) {
		case 0:
			l.m.On = !l.m.On
		case 1:
			l.m.On, l.m.Boot = true, l.m.Boot+1
		case 2:
			l.m.Disk++
		case 3:
			l.m.DiskGB, l.m.Cores = l.m.DiskGB+1, l.m.Cores+1
		case 4:
			l.repeat(func(ctx context.Context, h *proxmox.Hypervisor) error {
				return h.TakeSnapshot(ctx, external, l.m, "one")
			})
			l.repeat(func(ctx context.Context, h *proxmox.Hypervisor) error {
				return h.DropSnapshot(ctx, external, l.m, "one")
			})
		}
		l.repeat(func(ctx context.Context, h *proxmox.Hypervisor) error { return h.Change(ctx, external, l.m) })
	}
	if l.random.IntN(2) == 0 {
		return &l.m
	}
	l.repeat(func(ctx context.Context, h *proxmox.Hypervisor) error { return h.Remove(ctx, external, l.m) })
	return nil
}

// repeat calls until it succeeds. One panel in four ends in the middle of the call, and the
// next one knows nothing of it.
func (l *livingMachine) repeat(call func(context.Context, *proxmox.Hypervisor) error) {
	h := panel(l.T, l.pve, "ours", nil)
	for range 300 {
		ctx, end := context.WithCancel(l.Context())
		if l.random.IntN(4) == 0 {
			ctx, end = context.WithTimeout(l.Context(), time.Duration(l.random.IntN(50))*time.Millisecond)
		}
		err := call(ctx, h)
		if end(); ctx.Err() == context.DeadlineExceeded {
			h = panel(l.T, l.pve, "ours", nil)
		}
		switch {
		case err == nil:
			return
		case domain.ClassOf(err) == domain.Permanent:
			l.Errorf("%s: %v", l.m.Name, err)
			return
		}
	}
	l.Errorf("%s does not come to an end", l.m.Name)
}

func whole(s string) (n int) {
	_, _ = fmt.Sscan(s, &n)
	return n
}
