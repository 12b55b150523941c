package sagastest

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/projections"
	"hostpanel/sagas/assembly"
)

// A Household is a tenant with records of its own, at an engine that lies when
// it is told to.
type Household struct {
	*World
	Tenant int64
}

// Draw takes a number of a sequence.
func (w *World) Draw(name string) int64 {
	w.T.Helper()
	ids, err := w.Store.NextIDs(w.T.Context(), name)
	w.Must(err)
	return ids[0]
}

// NewTenant is the request for a tenant.
func (w *World) NewTenant(id int64) hosting.Request {
	t := &hosting.Tenant{
		Name: "Ana", Email: "ana@example.com", Slug: hosting.CustomerNumber(id), Username: hosting.CustomerNumber(id),
		Status: "active", IsActive: true, Limits: hosting.NoLimits().With("cron_jobs", 1_000),
	}
	return hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: id}, Tenant: id, Spec: t.Fields().Values(), Subject: uuid.New()}
}

// Ask is a request for a record of the tenant's.
func (h *Household) Ask(id int64, spec hosting.Spec) hosting.Request {
	return hosting.Request{
		Ref: hosting.Ref{Kind: kindOf(spec), ID: id}, Tenant: h.Tenant, Spec: spec.Fields().Values(),
		Subject: uuid.New(),
	}
}

func kindOf(spec hosting.Spec) string {
	for _, kind := range hosting.Kinds {
		if fmt.Sprintf("%T", kind.New()) == fmt.Sprintf("%T", spec) {
			return kind.Name
		}
	}
	panic("no kind")
}

// Site is a site that is on.
func Site(name string) *hosting.Site {
	return &hosting.Site{Domain: name, IPAddress: "*", IsActive: true}
}

// Carry executes commands as a user does.
func (w *World) Carry(commands ...domain.Command) domain.Receipt {
	w.T.Helper()
	return w.Carrying(nil, commands...)
}

// Carrying is [World.Carry] with secrets.
func (w *World) Carrying(secrets map[uuid.UUID]string, commands ...domain.Command) domain.Receipt {
	w.T.Helper()
	receipt, err := w.Reconciler.Carry(w.T.Context(), domain.Metadata{Actor: "user:1"}, secrets, commands...)
	w.Must(err)
	return receipt
}

// Set is a change of fields.
func Set(ref hosting.Ref, fields string) hosting.Change {
	spec := field.Values{}
	if err := json.Unmarshal([]byte(fields), &spec); err != nil {
		panic(err)
	}
	return hosting.Change{Ref: ref, Spec: spec}
}

// Resource is the row of a resource.
func (w *World) Resource(ref hosting.Ref) projections.Resource {
	w.T.Helper()
	found, err := w.Tables.For(projections.System).Hosting().Recorded(w.T.Context(), ref)
	w.Must(err)
	return found[ref]
}

// Stands waits until a resource has this status and no open request.
func (w *World) Stands(ref hosting.Ref, status hosting.Status) projections.Resource {
	w.T.Helper()
	w.Eventually(fmt.Sprintf("%s is %s (it is %+v)", ref.Stream(), status, w.Resource(ref)), func() bool {
		return w.Resource(ref).Status == status
	})
	return w.Resource(ref)
}

// Quiet waits until all runs of resources are over.
func (w *World) Quiet() {
	w.T.Helper()
	w.Eventually("every run is over", func() bool {
		return w.Count(
			`select count(*) from saga_run where definition = $1 and status not in ('done', 'undone', 'parked')`,
			"engine/1",
		) == 0
	})
}

// Has is the engine's object; it fails the test if there is none.
func (w *World) Has(kind, name string) hosting.EngineObject {
	w.T.Helper()
	o, there := w.Engine.All()[kind+"/"+name]
	if !there {
		w.T.Fatalf("the engine has no %s %s: %v", kind, name, w.Engine.All())
	}
	return o
}

// Value is a field of an object.
func Value(o hosting.EngineObject, name string) string { return string(o.Values[name]) }

// Certified is a world with a site and its certificate, in which it is noon.
func Certified(t *testing.T, change func(*hosting.Certificate)) (*World, *HandClock) {
	t.Helper()
	c := &HandClock{}
	c.Set(Noon)
	w := NewWorld(t, ByHand(c.Now))
	w.Pauses("engine:one") // the stories tell what it answers
	site := hosting.Site{Domain: "example.com", IPAddress: "*", IsActive: true}
	w.Asks(hosting.Request{Ref: TheSite, Tenant: 17, Spec: site.Fields().Values()}, CertificateOf(TheCertificate, change))
	return w, c
}

var (
	// These are the site of [Certified] and its certificate.
	TheSite        = hosting.Ref{Kind: "site", ID: 3}
	TheCertificate = hosting.Ref{Kind: "ssl_certificate", ID: 5}
)

// CertificateOf is the request for a certificate.
func CertificateOf(ref hosting.Ref, change func(*hosting.Certificate)) hosting.Request {
	at := Noon
	cert := hosting.Certificate{
		Site: TheSite.ID, Type: "acme", Domain: fmt.Sprintf("c%d.example.com", ref.ID), AutoRenew: true,
		Status: "pending", IsActive: true, OrderedAt: &at,
	}
	if change != nil {
		change(&cert)
	}
	return hosting.Request{Ref: ref, Tenant: 17, Spec: cert.Fields().Values()}
}

// Asks executes commands of a user, past the reconciler.
func (w *World) Asks(commands ...domain.Command) {
	w.T.Helper()
	_, err := w.Store.Execute(w.T.Context(), domain.Metadata{Actor: "user:1"}, commands...)
	w.Must(err)
}

// Issues is the engine's answer that a certificate is there.
func Issues(w *World, ref hosting.Ref, until time.Time) {
	w.T.Helper()
	w.Asks(hosting.Confirm{Ref: ref, EngineID: 9, Observed: field.Values{"expires_at": field.AppendTime(nil, until)}})
}

// Over waits for the end of an operation.
func (w *World) Over(id uuid.UUID) projections.Operation {
	w.T.Helper()
	var o projections.Operation
	w.Eventually(fmt.Sprintf("operation %s is over", id), func() bool {
		var err error
		o, err = w.Tables.For(projections.System).Hosting().Operation(w.T.Context(), id)
		w.Must(err)
		return o.IsOver()
	})
	return o
}

// Machine buys a virtual server and answers with it and its tenant.
func Machine(w *World) (id uuid.UUID, vm, tenant hosting.Ref) {
	w.T.Helper()
	id = w.Buy(OrderForm{Kind: "vps"})
	w.Becomes(id, order.StatusActive)
	job := w.Provision(id).Job
	return id, hosting.Ref{Kind: "vm", ID: job.VM}, hosting.Ref{Kind: "tenant", ID: job.Tenant}
}

// Powered waits until a machine is on or off, and every run for it is done.
func (w *World) Powered(vm hosting.Ref, state string) {
	w.T.Helper()
	w.Eventually(vm.Stream().String()+" is "+state, func() bool {
		return w.Compute.state(hosting.MachineName(vm.ID)) == compute.State(state) && w.Resource(vm).SyncStatus == "synced" &&
			w.Count(`select count(*) from saga_run where about = $1 and status <> 'done'`, vm.Stream().String()) == 0
	})
}

// Reasons are why a resource is off.
func (w *World) Reasons(ref hosting.Ref) []string {
	w.T.Helper()
	r, _, err := eventstore.Fold(w.T.Context(), w.Store, hosting.Decider, ref.Stream())
	w.Must(err)
	return r.DisabledBy
}

// Tenant adds one; with a client the engine knows it.
func (w *World) Tenant(id, client int64) hosting.Ref {
	w.T.Helper()
	ref := hosting.Ref{Kind: "tenant", ID: id}
	spec := hosting.Tenant{
		Name: fmt.Sprint("T", id), Email: "a@example.com", Slug: fmt.Sprint("t", id), Username: fmt.Sprint("t", id),
		Status: hosting.InService, IsActive: true, Limits: hosting.NoLimits(),
	}
	w.Does(hosting.Request{Ref: ref, Tenant: id, Spec: spec.Fields().Values(), For: "test"})
	if client != 0 {
		w.Does(hosting.Confirm{Ref: ref, EngineID: client})
	}
	return ref
}

// Does executes commands.
func (w *World) Does(commands ...domain.Command) {
	w.T.Helper()
	_, err := w.Store.Execute(w.T.Context(), domain.Metadata{Actor: "test"}, commands...)
	w.Must(err)
}

// NewHousehold is the household of a new tenant, in a world that stands still.
func NewHousehold(t *testing.T, change ...func(*assembly.Options)) *Household {
	t.Helper()
	h := &Household{World: NewWorld(t, change...)}
	h.Tenant = h.Draw("tenant")
	h.Carry(h.NewTenant(h.Tenant))
	return h
}
