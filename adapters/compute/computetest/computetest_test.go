package computetest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/adapters/compute/computetest"
	"hostpanel/adapters/compute/sandbox"
	"hostpanel/adapters/conformance"
	"hostpanel/adapters/faults"
	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// A faulty hypervisor does one thing wrong; what is nil is right.
type faulty struct {
	compute.Hypervisor

	create func(compute.Machine) compute.Machine
	change func(compute.Machine) compute.Machine
	remove func(compute.Machine) compute.Machine
	seen   func(compute.Seen) compute.Seen
	used   func(compute.Usage) compute.Usage
	failed func(error) error
}

func altered[V any](alter func(V) V, v V) V {
	if alter == nil {
		return v
	}
	return alter(v)
}

func (f faulty) Create(ctx context.Context, m compute.Machine) (string, error) {
	external, err := f.Hypervisor.Create(ctx, altered(f.create, m))
	return external, altered(f.failed, err)
}

func (f faulty) Change(ctx context.Context, external string, m compute.Machine) error {
	return altered(f.failed, f.Hypervisor.Change(ctx, external, altered(f.change, m)))
}

func (f faulty) Remove(ctx context.Context, external string, m compute.Machine) error {
	return altered(f.failed, f.Hypervisor.Remove(ctx, external, altered(f.remove, m)))
}

func (f faulty) Find(ctx context.Context, m compute.Machine) (compute.Seen, bool, error) {
	seen, is, err := f.Hypervisor.Find(ctx, m)
	return altered(f.seen, seen), is, err
}

func (f faulty) Usage(ctx context.Context, external string, m compute.Machine) (compute.Usage, error) {
	u, err := f.Hypervisor.Usage(ctx, external, m)
	return altered(f.used, u), err
}

func silent(code string) func(error) error {
	return func(err error) error {
		if f, is := err.(*domain.Failure); is && f.Code == code { //nolint:errorlint // the sandbox's own
			return nil
		}
		return err
	}
}

// Each fault is found by the check that is about it.
func TestTheSuiteFindsWhatIsWrong(t *testing.T) {
	pool := eventstoretest.Pool(t, eventstoretest.URL(t,
		eventstore.Migration{Area: "faults", Files: faults.Migrations},
		eventstore.Migration{Area: "sandbox_compute", Files: sandbox.Migrations}))
	boots, sent := int64(1), int64(1<<40)
	for check, f := range map[string]faulty{
		"made, found, listed":          {create: func(m compute.Machine) compute.Machine { m.ID = uuid.New(); return m }},
		"stays off until":              {create: func(m compute.Machine) compute.Machine { m.On = true; return m }},
		"started anew once":            {change: func(m compute.Machine) compute.Machine { boots++; m.Boot = boots; return m }},
		"switched off and on":          {change: func(m compute.Machine) compute.Machine { m.On = true; return m }},
		"comes back as it was":         {change: func(m compute.Machine) compute.Machine { m.On = !m.On; return m }},
		"grows":                        {failed: silent("disk_shrinks")},
		"was overtaken":                {failed: silent("overtaken")},
		"what is not there":            {failed: silent("absent")},
		"missing template":             {create: func(m compute.Machine) compute.Machine { m.Template = "debian-13"; return m }},
		"another machine has is taken": {failed: silent("name_taken")},
		"is never touched":             {failed: silent("drift")},
		"usage never falls":            {used: func(u compute.Usage) compute.Usage { sent--; u.Sent = sent; return u }},
		"done without an answer":       {change: func(m compute.Machine) compute.Machine { boots++; m.Boot = boots; return m }},
		"another installation":         {seen: func(s compute.Seen) compute.Seen { s.Ours = true; return s }},
	} {
		t.Run(check, func(t *testing.T) {
			hosts := sandbox.Hosts(compute.Host{Name: "one", Cores: 8, MemoryMB: 8 << 10, DiskGB: 80, Templates: []string{"debian-13"}})
			f.Hypervisor = sandbox.New(pool, hosts, sandbox.OfInstallation("ours"))
			var said []conformance.Result
			between := &computetest.Between{Hypervisor: f}
			computetest.Check(t.Context(), computetest.Hypervisor{
				Hypervisor: between, Lose: between.Lose, Like: compute.Machine{Template: "debian-13"}, Patience: 50 * time.Millisecond,
				Other: sandbox.New(pool, hosts, sandbox.OfInstallation("theirs")),
			}, conformance.NewTag(), check, func(r conformance.Result) { said = append(said, r) })
			if len(said) != 1 || len(said[0].Failures) == 0 {
				t.Errorf("not found: %+v", said)
			}
		})
	}
}

// What a check leaves is reported, and taken away by the tag.
func TestWhatIsLeftIsReported(t *testing.T) {
	pool := eventstoretest.Pool(t, eventstoretest.URL(t,
		eventstore.Migration{Area: "faults", Files: faults.Migrations},
		eventstore.Migration{Area: "sandbox_compute", Files: sandbox.Migrations}))
	c := sandbox.New(pool)
	keeps := faulty{Hypervisor: c, remove: func(m compute.Machine) compute.Machine { m.ID = uuid.New(); return m }}
	try := computetest.Hypervisor{Hypervisor: keeps, Like: compute.Machine{Template: "debian-13"}, Patience: 50 * time.Millisecond}
	tag := conformance.NewTag()
	var said conformance.Result
	computetest.Check(t.Context(), try, tag, "a creation that is repeated", func(r conformance.Result) { said = r })
	if len(said.Failures) > 0 || len(said.Left) != 1 || !strings.Contains(said.Left[0], tag) {
		t.Errorf("%+v", said)
	}
	try.Hypervisor = c
	if left := computetest.Clean(t.Context(), try, tag); len(left) > 0 {
		t.Errorf("%q", left)
	}
	if all, err := c.List(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("%+v, %v", all, err)
	}
}
