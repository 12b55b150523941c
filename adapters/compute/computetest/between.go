package computetest

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"hostpanel/adapters/conformance"
	"hostpanel/domain"
	"hostpanel/domain/compute"
)

// A Between stands between the suite and a hypervisor that is in use. It loses answers, and
// ends calls before they are over, as the death of the panel does.
type Between struct {
	compute.Hypervisor

	mu    sync.Mutex
	lose  string        // call whose next answer is lost
	ends  bool          // the next call is ended
	after time.Duration // so long after its begin
	ended bool
}

// Lose loses the answer to the next such call, which is carried out.
func (b *Between) Lose(_ conformance.T, call string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lose = call
}

// Cut ends the next call that changes something: at once where n is 1, later with each n. cut
// reports whether such a call was ended.
func (b *Between) Cut(n int) (cut func() bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ends, b.ended, b.after = true, false, 0
	if n > 1 {
		b.after = time.Duration(math.Pow(growth, float64(n-2)) * float64(time.Millisecond))
	}
	return func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.ends = false
		return b.ended
	}
}

// growth is by how much each call is ended later than the one before.
const growth = 1.7

// next is what happens to a call that begins.
func (b *Between) next(call string) (loses, ends bool, after time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if loses, ends, after = b.lose == call, b.ends, b.after; loses {
		b.lose = ""
	}
	b.ends = false
	return loses, ends, after
}

func (b *Between) around(ctx context.Context, call string, do func(context.Context) error) error {
	loses, ends, after := b.next(call)
	if ends {
		limited, cancel := context.WithTimeout(ctx, after)
		defer cancel()
		ctx = limited
	}
	err := do(ctx)
	if ends && ctx.Err() != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.ended = true
	}
	if loses && err == nil {
		return domain.Fail(domain.Unknown, "no_answer", errors.New("the answer was lost"))
	}
	return err
}

// Create passes the call on.
func (b *Between) Create(ctx context.Context, m compute.Machine) (external string, err error) {
	err = b.around(ctx, "create", func(ctx context.Context) (err error) {
		external, err = b.Hypervisor.Create(ctx, m)
		return err
	})
	return external, err
}

// Change passes the call on.
func (b *Between) Change(ctx context.Context, external string, m compute.Machine) error {
	return b.around(ctx, "change", func(ctx context.Context) error { return b.Hypervisor.Change(ctx, external, m) })
}

// Remove passes the call on.
func (b *Between) Remove(ctx context.Context, external string, m compute.Machine) error {
	return b.around(ctx, "remove", func(ctx context.Context) error { return b.Hypervisor.Remove(ctx, external, m) })
}

// TakeSnapshot passes the call on.
func (b *Between) TakeSnapshot(ctx context.Context, external string, m compute.Machine, name string) error {
	return b.around(ctx, "snapshot", func(ctx context.Context) error { return b.Hypervisor.TakeSnapshot(ctx, external, m, name) })
}

// DropSnapshot passes the call on.
func (b *Between) DropSnapshot(ctx context.Context, external string, m compute.Machine, name string) error {
	return b.around(ctx, "drop", func(ctx context.Context) error { return b.Hypervisor.DropSnapshot(ctx, external, m, name) })
}
