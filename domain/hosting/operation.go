package hosting

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/wording"
)

// An Operation is work that continues after the HTTP request has ended, such as
// an installation. The caller polls it for its status (docs/sync.md).
type Operation struct {
	Status OperationStatus `json:"status"`
	Kind   string          `json:"kind"`           // one of [OperationKinds]
	Tenant int64           `json:"tenant"`         // 0: the installation's own
	User   int64           `json:"user,omitempty"` // who asked

	ResourceType string `json:"resource_type,omitempty"` // that it is about, with its number
	ResourceID   int64  `json:"resource_id,omitempty"`

	Install *Installation   `json:"install,omitempty"` // of kind InstallCMS
	Sync    *Sync           `json:"sync,omitempty"`    // of kind TenantSync
	Pack    *EvidenceOrder  `json:"pack,omitempty"`    // of kind EvidencePack
	Pushed  []PushedRequest `json:"pushed,omitempty"`  // by a sync, so far
	Code    string          `json:"code,omitempty"`    // of the failure

	Projection string `json:"projection,omitempty"` // of kind ProjectionRebuild: the read table
	Compared   int64  `json:"compared,omitempty"`   // position of the log at which its rows were compared; 0: not yet
}

// OperationCategory is the category of the streams of operations.
const OperationCategory = "operation"

// The kinds of operations.
const (
	InstallCMS        = "install_cms"
	TenantSync        = "tenant_sync"
	ProjectionRebuild = "projection_rebuild"
	EvidencePack      = "evidence_pack"
)

// OperationKinds are all of them.
var OperationKinds = []string{InstallCMS, TenantSync, ProjectionRebuild, EvidencePack}

// An OperationStatus says how far an operation is.
type OperationStatus string

const (
	OperationQueuedStatus  OperationStatus = "queued"    // its run has not begun
	OperationRunningStatus OperationStatus = "running"   // its run has begun
	OperationDone          OperationStatus = "succeeded" // for good
	OperationBroken        OperationStatus = "failed"    // for good, with a code
)

// OperationStatuses are all of them, in their order.
var OperationStatuses = []OperationStatus{OperationQueuedStatus, OperationRunningStatus, OperationDone, OperationBroken}

// A Sync says what a comparison with the engine may change.
type Sync struct {
	DryRun bool `json:"dry_run,omitempty"` // nothing
	Repair bool `json:"repair,omitempty"`  // the engine's records where they differ
	Adopt  bool `json:"adopt,omitempty"`   // the panel's
}

// An EvidenceOrder says what an evidence pack is to be about: an order, a tenant or a
// period. More than one of them is their intersection.
type EvidenceOrder struct {
	Order  uuid.UUID `json:"order,omitzero"`
	Tenant int64     `json:"tenant,omitempty"`
	From   time.Time `json:"from,omitzero"`
	To     time.Time `json:"to,omitzero"`
}

// A PushedRequest is the version of a resource that a sync sends to the engine.
type PushedRequest struct {
	Kind string `json:"kind"`
	ID   int64  `json:"id"`
	Wish int    `json:"wish"`          // version of the request
	New  bool   `json:"new,omitempty"` // the engine did not have it
}

// Over tells whether the operation has ended.
func (o Operation) Over() bool { return o.Status == OperationDone || o.Status == OperationBroken }

// About is the resource that the operation is about.
func (o Operation) About() Ref { return Ref{Kind: o.ResourceType, ID: o.ResourceID} }

// TenantID is the tenant that the operation is for.
func (o Operation) TenantID() int64 { return o.Tenant }

// OperationStream is the history of an operation.
func OperationStream(id uuid.UUID) domain.Stream {
	return domain.Stream{Category: OperationCategory, ID: id.String()}
}

// Operations is the behaviour of the streams of operations.
var Operations = domain.Decider[Operation, OperationCommand, OperationEvent]{
	Decide: func(o Operation, c OperationCommand) ([]OperationEvent, error) { return c.decide(o) },
	Evolve: func(o Operation, e OperationEvent) Operation { return e.evolve(o) },
}

type (
	// An OperationCommand asks for a change of an operation.
	OperationCommand interface {
		domain.Command
		decide(Operation) ([]OperationEvent, error)
	}
	// An OperationEvent is a change of an operation.
	OperationEvent interface {
		domain.Event
		evolve(Operation) Operation
	}
)

// The commands of an operation. An operation ends once; commands after its end
// have no effect.
type (
	QueueOperation struct {
		ID      uuid.UUID
		Kind    string
		Tenant  int64
		User    int64
		About   Ref
		Install *Installation
		Sync    *Sync
		Pack    *EvidenceOrder

		Projection string
	}
	StartOperation    struct{ ID uuid.UUID }
	ProgressOperation struct {
		ID       uuid.UUID
		Result   field.Values
		Subject  uuid.UUID
		Personal field.Values // the personal data of the result
		Pushed   []PushedRequest
		Compared int64
	}
	SucceedOperation struct {
		ID     uuid.UUID
		Result field.Values
	}
	FailOperation struct {
		ID   uuid.UUID
		Code string // short and stable, such as "docroot_not_empty"
	}
)

func (c QueueOperation) Stream() domain.Stream    { return OperationStream(c.ID) }
func (c StartOperation) Stream() domain.Stream    { return OperationStream(c.ID) }
func (c ProgressOperation) Stream() domain.Stream { return OperationStream(c.ID) }
func (c SucceedOperation) Stream() domain.Stream  { return OperationStream(c.ID) }
func (c FailOperation) Stream() domain.Stream     { return OperationStream(c.ID) }

func (c QueueOperation) decide(o Operation) ([]OperationEvent, error) {
	if o.Status != "" {
		return nil, nil // the same request again
	}
	return []OperationEvent{OperationQueued{
		Kind: c.Kind, Tenant: c.Tenant, User: c.User, ResourceType: c.About.Kind, ResourceID: c.About.ID,
		Install: c.Install, Sync: c.Sync, Pack: c.Pack,
		Projection: c.Projection,
	}}, nil
}

func (StartOperation) decide(o Operation) ([]OperationEvent, error) {
	if o.Status != OperationQueuedStatus {
		return nil, nil
	}
	return []OperationEvent{OperationStarted{}}, nil
}

func (c ProgressOperation) decide(o Operation) ([]OperationEvent, error) {
	if o.Over() || o.Status == "" {
		return nil, nil
	}
	var personal string
	if len(c.Personal) > 0 {
		text, err := json.Marshal(c.Personal)
		if err != nil {
			return nil, err
		}
		personal = string(text)
	}
	return []OperationEvent{
		OperationProgressed{Result: c.Result, SubjectID: c.Subject, Personal: personal, Pushed: c.Pushed, Compared: c.Compared},
	}, nil
}

func (c SucceedOperation) decide(o Operation) ([]OperationEvent, error) {
	if o.Over() || o.Status == "" {
		return nil, nil
	}
	return []OperationEvent{OperationSucceeded{Result: c.Result}}, nil
}

func (c FailOperation) decide(o Operation) ([]OperationEvent, error) {
	if o.Over() || o.Status == "" {
		return nil, nil
	}
	return []OperationEvent{OperationFailed{Code: c.Code}}, nil
}

// The events of an operation. Personal holds the personal data of the result as
// one JSON text, which the log seals.
type (
	OperationQueued struct {
		Kind         string         `json:"kind"`
		Tenant       int64          `json:"tenant,omitempty"`
		User         int64          `json:"user,omitempty"`
		ResourceType string         `json:"resource_type,omitempty"`
		ResourceID   int64          `json:"resource_id,omitempty"`
		Install      *Installation  `json:"install,omitempty"`
		Sync         *Sync          `json:"sync,omitempty"`
		Pack         *EvidenceOrder `json:"pack,omitempty"`
		Projection   string         `json:"projection,omitempty"`
	}
	OperationStarted    struct{}
	OperationProgressed struct {
		Result    field.Values    `json:"result,omitempty"`
		SubjectID uuid.UUID       `json:"subject,omitzero"`
		Personal  string          `json:"personal,omitempty"`
		Pushed    []PushedRequest `json:"pushed,omitempty"`
		Compared  int64           `json:"compared,omitempty"` // position up to which a rebuilt table was compared
	}
	OperationSucceeded struct {
		Result field.Values `json:"result,omitempty"`
	}
	OperationFailed struct {
		Code string `json:"code"`
	}
)

func (OperationQueued) EventName() string     { return "operation.queued" }
func (OperationStarted) EventName() string    { return "operation.started" }
func (OperationProgressed) EventName() string { return "operation.progressed" }
func (OperationSucceeded) EventName() string  { return "operation.succeeded" }
func (OperationFailed) EventName() string     { return "operation.failed" }

func (e OperationQueued) Says() string {
	about := strings.TrimSpace(wording.Spaced(e.ResourceType) + " " + wording.Number(e.ResourceID))
	return "asked for: " + wording.Spaced(e.Kind) + wording.Around(", ", cmp.Or(e.Projection, about), "")
}

func (OperationStarted) Says() string { return "begins" }

func (e OperationProgressed) Says() string {
	if e.Compared > 0 {
		return fmt.Sprintf("compared with the log, up to event %d", e.Compared)
	}
	return "compared with the engine, " + wording.Count(len(e.Pushed), "record") + " to be pushed"
}

func (OperationSucceeded) Says() string { return "done" }
func (e OperationFailed) Says() string  { return "failed: " + wording.Spaced(e.Code) }

// operationEventTypes lists every event that the stream of an operation may hold.
var operationEventTypes = []domain.EventType{
	domain.Register[OperationQueued](),
	domain.Register[OperationStarted](),
	domain.Register[OperationProgressed]().Sealing(domain.Contact, "personal"),
	domain.Register[OperationSucceeded](),
	domain.Register[OperationFailed](),
}

// Values are the whole result so far. Erased fields are missing.
func (e OperationProgressed) Values() field.Values { return join(e.Result, e.Personal) }

func (e OperationQueued) evolve(Operation) Operation {
	return Operation{
		Status: OperationQueuedStatus, Kind: e.Kind, Tenant: e.Tenant, User: e.User,
		ResourceType: e.ResourceType, ResourceID: e.ResourceID, Install: e.Install, Sync: e.Sync, Pack: e.Pack,
		Projection: e.Projection,
	}
}

func (OperationStarted) evolve(o Operation) Operation { o.Status = OperationRunningStatus; return o }

func (e OperationProgressed) evolve(o Operation) Operation {
	o.Pushed, o.Compared = e.Pushed, e.Compared
	return o
}

func (OperationSucceeded) evolve(o Operation) Operation { o.Status = OperationDone; return o }

func (e OperationFailed) evolve(o Operation) Operation {
	o.Status, o.Code = OperationBroken, e.Code
	return o
}

// OperationsPath is where callers see how far operations are.
const OperationsPath = "/hosting/api/rest/operations/"

// OperationPath is where callers see how far an operation is.
func OperationPath(id uuid.UUID) string { return OperationsPath + id.String() + "/" }

// OperationAt is the operation that a path leads to.
func OperationAt(path string) (uuid.UUID, error) {
	id, err := uuid.Parse(strings.Trim(strings.TrimPrefix(path, OperationsPath), "/"))
	if err != nil {
		return id, domain.Refuse(domain.NotFound, "No Operation matches the given query.")
	}
	return id, nil
}
