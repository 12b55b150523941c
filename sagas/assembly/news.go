package assembly

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/billing"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
	"hostpanel/projections"

	"github.com/google/uuid"
)

// What customers and the administrators of tenants are told of what happens to
// what is theirs (docs/notifications.md, "Who is told what").

// A telling says something in the language of whoever is told.
type telling func(language string) notice.Text

// tellNews notifies those whom a fact concerns.
func (s *Panel) tellNews(ctx context.Context, r eventstore.RecordedEvent) error {
	switch e := r.Event.(type) {
	case billing.InvoiceIssued:
		return s.tellBuyer(ctx, r, e.Order, notice.InvoiceCreated)
	case order.RefundCompleted, order.PartiallyRefunded:
		return s.tellBuyer(ctx, r, uuid.MustParse(r.Stream.ID), notice.RefundDone)
	case hosting.CertificateIssued:
		return s.tellOfResource(ctx, r, notice.CertificateIssued)
	case hosting.CertificateFailed:
		return s.tellOfResource(ctx, r, notice.CertificateFailed)
	case hosting.CertificateExpiring:
		return s.tellOfResource(ctx, r, func(_, domain, language string) notice.Text {
			return notice.CertificateExpiring(domain, daysUntil(r.RecordedAt, e.Ends), language)
		})
	case hosting.EngineConfirmed:
		return s.tellOfMachine(ctx, r, notice.MachineReady)
	case hosting.EngineRefused:
		if isMachine(r) {
			return s.tellOfMachine(ctx, r, notice.MachineFailed)
		}
		return s.tellOfResource(ctx, r, notice.EngineRefused)
	case hosting.Changed:
		return s.tellOfSuspension(ctx, r, e)
	case hosting.OperationSucceeded:
		return s.tellOfInstallation(ctx, r)
	case webhook.EndpointDisabled:
		return s.tellAdmins(ctx, r, func(language string) notice.Text { return notice.WebhookDisabled(r.Stream.ID, language) },
			map[string]string{"webhook_endpoint_id": r.Stream.ID})
	}
	return nil
}

// tellBuyer notifies the user whom an order was set up for. There is none
// while it was not, or if it never will be.
func (s *Panel) tellBuyer(ctx context.Context, r eventstore.RecordedEvent, id uuid.UUID, what func(number, language string) notice.Text) error {
	o, err := s.order(ctx, id)
	if err != nil {
		return err
	}
	user, err := s.buyer(ctx, id)
	if err != nil {
		return err
	}
	return s.tell(ctx, r, user, what(o.OrderNumber, o.Language), aboutOrder(o))
}

// buyer is the user whom an order was set up for; 0: it has not come to that.
func (s *Panel) buyer(ctx context.Context, id uuid.UUID) (int64, error) {
	in, err := s.provisioned(ctx, id)
	return in.User, unlessMissing(err)
}

// tellOfMachine notifies the customer of the first answer of its kind: a
// machine that has started again is no news.
func (s *Panel) tellOfMachine(ctx context.Context, r eventstore.RecordedEvent, what func(number, language string) notice.Text) error {
	if !isMachine(r) {
		return nil
	}
	history, err := s.store.ReadStreams(ctx, r.Version, r.Stream)
	if err != nil {
		return err
	}
	var bought string
	for _, earlier := range history {
		if e, is := earlier.Event.(hosting.Requested); is {
			bought = e.For
		}
		if earlier.Version < r.Version && earlier.Name == r.Name {
			return nil
		}
	}
	id, err := uuid.Parse(strings.TrimPrefix(bought, "order:"))
	if err != nil {
		return nil //nolint:nilerr // nobody has bought it
	}
	return s.tellBuyer(ctx, r, id, what)
}

func isMachine(r eventstore.RecordedEvent) bool {
	kind, known := hosting.KindOf(r.Stream)
	return known && kind.Backend == hosting.Compute
}

// tellOfResource notifies the administrators of a tenant of one of its
// resources. What is gone by now is nobody's concern.
func (s *Panel) tellOfResource(ctx context.Context, r eventstore.RecordedEvent, what func(noun, name, language string) notice.Text) error {
	id, err := strconv.ParseInt(r.Stream.ID, 10, 64)
	if err != nil {
		return err
	}
	ref := hosting.Ref{Kind: r.Stream.Category, ID: id}
	kind, _ := hosting.KindOf(r.Stream)
	row, err := s.tables.For(projections.System).Resource(ctx, ref)
	if err != nil {
		return unlessMissing(err)
	}
	return s.tellAdmins(ctx, r, func(language string) notice.Text { return what(kind.Noun(language), called(row), language) },
		map[string]string{ref.Kind + "_id": r.Stream.ID})
}

// daysUntil counts the days that are left, of which the last has begun.
func daysUntil(now, then time.Time) int { return int((then.Sub(now) + day - 1) / day) }

// called is how people know a resource: a domain, or its number. Other names
// may be those of persons.
func called(row projections.Resource) string {
	for _, name := range []string{"domain", "origin"} {
		var text string
		if json.Unmarshal(row.Spec[name], &text) == nil && text != "" {
			return text
		}
	}
	return strconv.FormatInt(row.ID, 10)
}

func unlessMissing(err error) error {
	if domain.CodeOf(err) == domain.NotFound {
		return nil
	}
	return err
}

// tellOfSuspension notifies the administrators of a tenant that it does not
// run any more, or does again.
func (s *Panel) tellOfSuspension(ctx context.Context, r eventstore.RecordedEvent, e hosting.Changed) error {
	status, _ := hosting.NewStatus(r.Stream, e) // the change may be about something else
	about := map[string]string{"tenant_id": r.Stream.ID}
	switch status {
	case hosting.Suspended:
		return s.tellAdmins(ctx, r, notice.TenantSuspended, about)
	case hosting.InService:
		return s.tellAdmins(ctx, r, notice.TenantReactivated, about)
	}
	return nil
}

// tellOfInstallation notifies the administrators of a tenant that a program was
// installed in a site.
func (s *Panel) tellOfInstallation(ctx context.Context, r eventstore.RecordedEvent) error {
	o, _, err := eventstore.Fold(ctx, s.store, hosting.Operations, r.Stream)
	if err != nil || o.Kind != hosting.InstallCMS {
		return err
	}
	row, err := s.tables.For(projections.System).Resource(ctx, o.About)
	if err != nil {
		return unlessMissing(err)
	}
	return s.tellAdmins(ctx, r, func(language string) notice.Text { return notice.Installed(called(row), language) },
		map[string]string{"site_id": strconv.FormatInt(o.About.ID, 10), "operation_id": r.Stream.ID})
}

// tellAdmins notifies the administrators of the fact's tenant, each in their
// own language.
func (s *Panel) tellAdmins(ctx context.Context, r eventstore.RecordedEvent, what telling, about map[string]string) error {
	if r.Tenant == 0 {
		return nil
	}
	scope := s.tables.For(projections.System)
	members, err := scope.Members(ctx, r.Tenant)
	if err != nil {
		return err
	}
	for _, m := range members {
		if m.Role != account.Admin {
			continue
		}
		u, err := scope.User(ctx, m.UserID)
		if err != nil {
			return err
		}
		if err := s.tell(ctx, r, u.ID, what(u.Language), about); err != nil {
			return err
		}
	}
	return nil
}
