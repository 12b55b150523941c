package hosting

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// Deps are what [Maintenance] and [Operations] work with.
type Deps struct {
	Runner *sagas.Runner
	Store  *eventstore.Store
	Tables *projections.Tables
	Vault  *credentials.Vault
	Engine hosting.EngineServer
	Times  Times

	Compute      compute.Fleet
	Installation string // from which the ids of machines follow

	// How the engine is called. Its queue and the policies are those of all calls
	// to it.
	EngineQueue                            string
	EngineCalls, EngineApplies, Comparison sagas.Policy
	// Seal is the row that keeps a secret until the engine has it.
	Seal       func(handle uuid.UUID, secret string) eventstore.TxStatement
	SecretLife time.Duration // of a secret that waits
}

// system reads as the program itself.
func (d *Deps) system() projections.Scope { return d.Tables.For(projections.System) }

// Maintenance needs no request: it empties the bin, renews certificates, keeps
// records suspended with their tenant, and measures usage.
type Maintenance struct {
	Deps

	// OwnServices keeps a sub-tenant that has bought a service itself, and tells whether it
	// has; nil: none has.
	OwnServices func(ctx context.Context, tenant int64) (bool, error)

	graces, renewals sagas.Definition[hosting.Generation]
}

// NewMaintenance registers the runs, the reactions and the tasks of maintenance.
func NewMaintenance(d Deps) *Maintenance {
	m := &Maintenance{Deps: d}
	m.register()
	d.Runner.OnAppend(m.starts)
	d.Runner.OnEvent(
		m.react,
		sagas.NamesOf(
			hosting.Requested{}, hosting.RemovalRequested{}, hosting.ServiceSuspended{}, hosting.ServiceResumed{},
			hosting.Changed{}, hosting.EngineConfirmed{}, hosting.EngineRefused{},
		)...,
	)
	m.measure()
	return m
}

// register registers the sagas that work for one resource each.
func (m *Maintenance) register() {
	local, look := m.Runner.Times(), m.Times.CertificateLook
	m.graces = sagas.Register(m.Runner, sagas.Saga[hosting.Generation]{
		Name: "grace", Definition: "grace/1",
		Steps: []sagas.Step[hosting.Generation]{
			{
				Name: "grace", Says: "keep it in the bin for a while", Queue: sagas.LocalQueue, Policy: sagas.Policy{Timeout: local.Write},
				Wait: m.binned,
			},
			{
				Name: "purge", Says: "remove it for good", Queue: sagas.LocalQueue, Policy: local.LocalPolicy(),
				Local: &sagas.Local[hosting.Generation]{Do: m.purge},
			},
		},
	})
	m.renewals = sagas.Register(m.Runner, sagas.Saga[hosting.Generation]{
		Name: "renewal", Definition: "renewal/1",
		Steps: []sagas.Step[hosting.Generation]{
			{
				Name: "certificate.serve", Says: "let the site serve HTTPS with its first certificate",
				Queue: sagas.LocalQueue, Policy: local.LocalPolicy(),
				Local: &sagas.Local[hosting.Generation]{Do: m.serveHTTPS},
			},
			{
				Name: "certificate.due", Says: "wait until the certificate is to be renewed, or about to expire", Queue: sagas.LocalQueue,
				Policy: sagas.Policy{Timeout: local.Write, First: look, Last: look, Base: local.LocalBase, Cap: local.LocalCap},
				Wait:   m.certificateDue,
			},
			{
				Name: "certificate.tend", Says: "order the certificate again, or tell that it expires",
				Queue: sagas.LocalQueue, Policy: local.LocalPolicy(),
				Local: &sagas.Local[hosting.Generation]{Do: m.tendCertificate},
			},
		},
	})
}

// starts are the runs that begin with events about resources: one for everything
// that goes into the bin, and one for what happens to a certificate.
func (m *Maintenance) starts(_ context.Context, events []eventstore.RecordedEvent) (starts []eventstore.Start, err error) {
	for i, r := range events {
		if _, trashed := r.Event.(hosting.MovedToBin); trashed {
			g := hosting.GenerationOf(r.Stream, r.Version)
			starts = append(starts, m.Runner.Starting(i, m.graces.Start(g.String(), g, uuid.Nil)))
		}
		if run, begins := m.renewalOf(r); begins {
			starts = append(starts, m.Runner.Starting(i, run))
		}
	}
	return starts, nil
}

// react keeps resources in step with an event of the log.
func (m *Maintenance) react(ctx context.Context, r eventstore.RecordedEvent) error {
	if tenant := suspensionOf(r); tenant != 0 {
		if err := m.suspendWithTenant(ctx, r, tenant); err != nil {
			return err
		}
	}
	if parent := subTenantsOf(r); parent != 0 {
		if err := m.keepSubTenants(ctx, parent); err != nil {
			return err
		}
	}
	switch e := r.Event.(type) {
	case hosting.Requested:
		return m.disableWithSite(ctx, r, e)
	case hosting.Changed:
		return m.pushLimits(ctx, r, e)
	case hosting.EngineConfirmed:
		return m.certifyNewName(ctx, r)
	case hosting.EngineRefused:
		return m.reportRefusedRemoval(ctx, hosting.RefOf(r.Stream), e.Code)
	}
	return nil
}

// reportRefusedRemoval reports a record that the engine refuses to remove. Its customer
// believes that it is gone.
func (m *Maintenance) reportRefusedRemoval(ctx context.Context, ref hosting.Ref, code string) error {
	found, err := m.system().Hosting().Recorded(ctx, ref)
	if row, known := found[ref]; err == nil && known && row.Status == hosting.Leaving {
		err = m.Runner.ReportIncident(ctx, operations.StuckTrouble(row.Tenant, ref.Kind, ref.ID, code))
	}
	return err
}
