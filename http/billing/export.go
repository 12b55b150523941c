package billing

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"hostpanel/domain/billing"
	"hostpanel/domain/field"
	"hostpanel/http/export"
	"hostpanel/projections"
)

// Export is what a tenant was billed, for its data export: the records as the API shows
// them to its administrators, and the stored documents.
func (a *Area) Export() export.Part {
	return func(ctx context.Context, scope projections.Scope, to *export.Archive) error {
		err := export.Records(ctx, to, "subscriptions.json", scope.Billing().Subscriptions, (*projections.Subscription).Fields)
		if err != nil {
			return err
		}
		err = export.Records(ctx, to, "invoices.json", scope.Billing().Invoices, func(row *projections.Invoice) field.Set {
			to.Later(storing(a.documents.documents, to, row.ID, row.Number))
			return (&invoice{Invoice: *row}).Fields() // not as an operator reads it
		})
		if err != nil {
			return err
		}
		return export.Records(ctx, to, "credit-notes.json", scope.Billing().CreditNotes, func(row *projections.CreditNote) field.Set {
			to.Later(storing(a.documents.documents, to, row.InvoiceID, row.Number))
			return row.Fields()
		})
	}
}

// storing adds the stored document of an invoice or a credit note, if there is one.
func storing(stored Documents, to *export.Archive, invoice uuid.UUID, number string) func(context.Context) error {
	name := "invoices/" + number + ".pdf"
	return func(ctx context.Context) error {
		body, err := stored.Document(ctx, invoice, number, "pdf")
		switch {
		case errors.Is(err, billing.ErrNotMade), errors.Is(err, billing.ErrDocumentErased):
			to.Lacks(name)
			return nil
		case err != nil:
			return err
		}
		return to.File(name, body)
	}
}
