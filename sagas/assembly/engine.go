package assembly

import (
	"context"
	"fmt"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/sagas"

	"github.com/google/uuid"
)

// Whatever is asked of a hosting resource starts a run for it, which brings
// the engine to what the resource is by then (docs/sagas.md, "Engine"). Runs
// of one resource take turns, in the order of the wishes; what a later wish
// has overtaken has nothing to do.

// A ResourceVersion is the input of runs that work for one hosting resource:
// which, and the version of its stream after the event that began the run.
type ResourceVersion struct {
	Kind    string `json:"kind"`
	ID      int64  `json:"id"`
	Version int    `json:"version"`
}

func (v ResourceVersion) ref() hosting.Ref { return hosting.Ref{Kind: v.Kind, ID: v.ID} }

// registerHosting registers the sagas that work for one hosting resource each.
func (s *Panel) registerHosting() {
	engine, compute := engineQueue(s.engine), computeQueue(s.compute)
	serial := func(v ResourceVersion) (domain.Stream, int) { return v.ref().Stream(), v.Version }
	decline := func(v ResourceVersion, _, code string) []domain.Command {
		return []domain.Command{hosting.Decline{Ref: v.ref(), Code: code, Version: v.Version, At: s.Now()}}
	}
	s.engineRuns = sagas.Register(s.Runner, sagas.Saga[ResourceVersion]{
		Name: "engine", Definition: "engine/1", Serial: serial, Parked: decline,
		Steps: []sagas.Step[ResourceVersion]{
			{
				Name: "push", Says: "bring the hosting engine to what is wanted", Queue: engine, Policy: s.policies.push,
				Effect: &sagas.Effect[ResourceVersion]{Key: pushKey, Prepare: s.push},
			},
			{
				Name: "applied", Says: "wait until the hosting engine has applied it", Queue: engine, Policy: s.policies.ready,
				Wait: s.applied,
			},
		},
	})
	s.machineRuns = sagas.Register(s.Runner, sagas.Saga[ResourceVersion]{
		Name: "machine", Definition: "machine/1", Serial: serial, Parked: decline,
		Steps: []sagas.Step[ResourceVersion]{
			{
				Name: "machine", Says: "bring the hypervisor to what is wanted of the machine", Queue: compute, Policy: s.policies.push,
				Effect: &sagas.Effect[ResourceVersion]{Key: pushKey, Prepare: s.machineCall},
			},
			{
				Name: "machine.applied", Says: "wait until the hypervisor has carried it out", Queue: compute, Policy: s.policies.vm,
				Wait: s.machineApplied,
			},
		},
	})
	s.graces = sagas.Register(s.Runner, sagas.Saga[ResourceVersion]{
		Name: "grace", Definition: "grace/1",
		Steps: []sagas.Step[ResourceVersion]{
			{
				Name: "grace", Says: "keep it in the bin for a while", Queue: sagas.LocalQueue, Policy: s.policies.bin,
				Wait: s.binned,
			},
			{
				Name: "purge", Says: "remove it for good", Queue: sagas.LocalQueue, Policy: s.policies.local,
				Local: &sagas.Local[ResourceVersion]{Do: s.purge},
			},
		},
	})
	s.renewals = sagas.Register(s.Runner, sagas.Saga[ResourceVersion]{
		Name: "renewal", Definition: "renewal/1",
		Steps: []sagas.Step[ResourceVersion]{
			{
				Name: "certificate.serve", Says: "let the site serve HTTPS with its first certificate", Queue: sagas.LocalQueue, Policy: s.policies.local,
				Local: &sagas.Local[ResourceVersion]{Do: s.serveHTTPS},
			},
			{
				Name: "certificate.due", Says: "wait until the certificate is to be renewed, or about to expire", Queue: sagas.LocalQueue, Policy: s.policies.due,
				Wait: s.certificateDue,
			},
			{
				Name: "certificate.tend", Says: "order the certificate again, or tell that it expires", Queue: sagas.LocalQueue, Policy: s.policies.local,
				Local: &sagas.Local[ResourceVersion]{Do: s.tendCertificate},
			},
		},
	})
}

// pushKey is the key of its effect: "e/site-42/3".
func pushKey(j ResourceVersion) string { return "e/" + generationKey(j) }

func generationKey(j ResourceVersion) string {
	return fmt.Sprintf("%s/%d", j.ref().Stream(), j.Version)
}

// pushing is the run for a wish.
func (s *Panel) pushing(j ResourceVersion) sagas.Start {
	if kind, _ := hosting.KindNamed(j.Kind); kind.Backend == hosting.Compute {
		return s.machineRuns.Start(generationKey(j), j, uuid.Nil)
	}
	return s.engineRuns.Start(generationKey(j), j, uuid.Nil)
}

// engineStarts are the runs that begin with facts about hosting resources: one
// for the last wish of each, unless it is fulfilled along with it, and one for
// everything that goes into the bin.
func (s *Panel) engineStarts(_ context.Context, facts []eventstore.RecordedEvent) (starts []eventstore.Start, err error) {
	last := map[domain.Stream]int{}
	for i, fact := range facts {
		switch {
		case raisesGeneration(fact):
			last[fact.Stream] = i
		case confirmsGeneration(fact):
			delete(last, fact.Stream)
		}
	}
	for i, fact := range facts {
		if _, trashed := fact.Event.(hosting.MovedToBin); trashed {
			starts = append(starts, s.Starting(i, s.grace(jobOf(fact))))
		}
		if at, wished := last[fact.Stream]; wished && at == i {
			starts = append(starts, s.Starting(i, s.pushing(jobOf(fact))))
		}
	}
	return starts, nil
}

// raisesGeneration tells whether the engine, or the hypervisor, has something to do after
// a fact. What an order has asked for its own run brings there.
func raisesGeneration(fact eventstore.RecordedEvent) bool {
	kind, known := hosting.KindNamed(fact.Stream.Category)
	if !known || kind.Backend == hosting.Local {
		return false
	}
	switch e := fact.Event.(type) {
	case hosting.Requested:
		return e.For == ""
	case hosting.Changed, hosting.Disabled, hosting.Enabled, hosting.MovedToBin, hosting.Restored, hosting.RemovalRequested,
		hosting.PushRequested, hosting.CertificateOrdered:
		return true
	}
	return false
}

// confirmsGeneration tells whether a fact leaves nothing to do for the wishes before it.
func confirmsGeneration(fact eventstore.RecordedEvent) bool {
	switch e := fact.Event.(type) {
	case hosting.Removed:
		return true
	case hosting.EngineConfirmed:
		return e.Version == 0 || e.Version == fact.Version-1
	}
	return false
}

func jobOf(fact eventstore.RecordedEvent) ResourceVersion {
	ref := refOf(fact.Stream)
	return ResourceVersion{Kind: ref.Kind, ID: ref.ID, Version: fact.Version}
}

// applied is when the engine has not only accepted the wish but carried it
// out. What it has observed by then is kept.
func (s *Panel) applied(ctx context.Context, job *ResourceVersion) (bool, sagas.Work, error) {
	w, err := s.desired(ctx, job)
	if err != nil || w.row.Wish > job.Version || w.row.Status != hosting.Running || w.object.ID == 0 {
		return err == nil, sagas.Work{}, err // a later wish, or nothing to wait for
	}
	if w.kind.Issued {
		return s.certificateApplied(ctx, w)
	}
	found, is, err := s.engine.Find(ctx, w.object.Kind, w.object.Name, w.object.Ref)
	switch {
	case err != nil || !is:
		return false, sagas.Work{}, err
	case !w.ours(found):
		return false, sagas.Work{}, errNotOurs
	}
	seen := hosting.Confirm{Ref: w.ref, EngineID: found.ID, Observed: found.Observed, Version: w.row.Wish}
	return found.Applied, sagas.Work{Commands: []domain.Command{seen}}, nil
}
