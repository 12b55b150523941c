package projections

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/eventstore"
)

// methodSetups are the payment methods that people add without a payment. What is open of
// one person is found again by it.
var methodSetups = New("method_setups", `
	create table method_setups (
		id         uuid   primary key,
		tenant     bigint not null,
		user_id    bigint not null,
		subject    uuid   not null, -- the person who agreed
		provider   text   not null,
		status     text   not null,
		url        text   not null default '', -- of the provider's page; '': none yet
		method     uuid,                       -- that was saved by it; null: none
		end_reason text   not null default '',
		expires_at timestamptz not null,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		version    int    not null
	);
	create index method_setups_user on method_setups (user_id, tenant, created_at, id);
	create index method_setups_subject on method_setups (subject)`,
	On(func(at eventstore.RecordedEvent, e billing.MethodSetupStarted) Change {
		return insert("method_setups", Row{
			{"id", at.Stream.ID},
			{"tenant", e.Tenant},
			{"user_id", e.User},
			{"subject", e.SubjectID},
			{"provider", e.Provider},
			{"status", billing.SetupOpen},
			{"expires_at", e.ExpiresAt},
			{"created_at", e.At},
			{"updated_at", e.At},
			{"version", at.Version},
		})
	}),
	setupChange(func(e billing.MethodSetupOpened) Row { return Row{{"url", e.URL}, {"expires_at", e.ExpiresAt}} }),
	setupChange(func(e billing.MethodSetupSaved) Row {
		return Row{{"status", billing.SetupSaved}, {"method", e.Method}, {"url", ""}}
	}),
	setupChange(func(e billing.MethodSetupEnded) Row {
		return Row{{"status", billing.SetupEnded}, {"end_reason", e.Reason}, {"url", ""}}
	}),
	setupChange(func(billing.MethodSetupDiscarded) Row { return Row{} }),
).
	ReadBy("method_setups", operators, ofTenant("tenant"))

// setupChange is what an event does to the row of its setup.
func setupChange[E domain.Event](set func(E) Row) Handler {
	return On(func(at eventstore.RecordedEvent, e E) Change {
		return update("method_setups", Row{{"id", at.Stream.ID}}, changed(at, set(e)))
	})
}

// A MethodSetup is how a person adds a payment method without a payment.
type MethodSetup struct {
	ID        uuid.UUID
	Tenant    int64
	User      int64 `db:"user_id"`
	Subject   uuid.UUID
	Provider  string
	Status    billing.SetupStatus
	URL       string // of the provider's page; "": none, or not any more
	Method    *uuid.UUID
	EndReason string
	ExpiresAt time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int
}

const methodSetupColumns = `p.id, p.tenant, p.user_id, p.subject, p.provider, p.status, p.url, p.method, p.end_reason,
	p.expires_at, p.created_at, p.updated_at, p.version`

// MethodSetup is one of the caller's tenant.
func (s BillingReader) MethodSetup(ctx context.Context, id uuid.UUID) (MethodSetup, error) {
	w := s.caller.tenantOrAll("p.tenant")
	w.and("p.id = ?", id)
	return one[MethodSetup](ctx, s.db, "MethodSetup", `select `+methodSetupColumns+` from method_setups p`, w)
}

// MethodSetupsOf lists the setups that a user has begun in a tenant, the oldest first.
func (s BillingReader) MethodSetupsOf(ctx context.Context, user, tenant int64) ([]MethodSetup, error) {
	w := s.caller.operators()
	w.and("p.user_id = ?", user)
	w.and("p.tenant = ?", tenant)
	return list[MethodSetup](ctx, s.db, `select `+methodSetupColumns+` from method_setups p`, w, ` order by p.created_at, p.id`)
}

// OpenMethodSetupsOf lists the open setups of people; tenant 0: in all tenants.
func (s BillingReader) OpenMethodSetupsOf(ctx context.Context, tenant int64, subjects ...uuid.UUID) ([]MethodSetup, error) {
	w := s.caller.operators()
	w.and("p.status = ?", billing.SetupOpen)
	w.and("p.subject = any(?)", subjects)
	given(w, "p.tenant = ?", tenant)
	return list[MethodSetup](ctx, s.db, `select `+methodSetupColumns+` from method_setups p`, w, ` order by p.created_at, p.id`)
}
