package billing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/billing/document"
	"hostpanel/domain/texts"
	"hostpanel/eventstore"
	"hostpanel/eventstore/sealing"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// A document is written once, soon after its number is drawn, and stored sealed. The hash of
// the sealed bytes stands in the log (docs/invoices.md, "Stored documents").

// Writers write a document for people, the same bytes for the same document. XML is written
// by [document.XML].
type Writers struct {
	HTML, PDF func(document.Document) ([]byte, error)
}

// documentsAtOnce is how many documents one process writes at a time. It is few: writing
// costs the processor, and a night of renewals goes first.
const documentsAtOnce = 1

// documentsInClaim is how many of them one claim leases.
const documentsInClaim = 20

// documents is woken when a document is to be made.
const documents = "documents"

// documentQueue are the documents that are not stored yet, the oldest first.
func (s *Service) documentQueue() sagas.Queue[string] {
	return sagas.Queue[string]{
		Name: documents, Failed: "documents were not made", AtOnce: documentsAtOnce, Batch: documentsInClaim,
		Policy: s.policy(),
		Due:    projections.DueDocuments,
		Do: func(ctx context.Context, task *sagas.Task[string]) (sagas.TaskEnd, error) {
			invoice, number, creditNote, err := documentNamed(task.Row)
			if err != nil {
				return sagas.TaskIdle, err
			}
			command := billing.MakeDocument{Invoice: invoice, Number: number, CreditNote: creditNote}
			end, err := s.makeOne(ctx, command, task.Recorded())
			if err != nil {
				err = fmt.Errorf("make document %s: %w", number, err)
			}
			return end, err
		},
	}
}

// documentNamed reads the key of a task of [projections.DueDocuments].
func documentNamed(key string) (invoice uuid.UUID, number string, creditNote uuid.UUID, err error) {
	parts := append(strings.Split(key, " "), uuid.Nil.String())
	if len(parts) < 3 {
		return invoice, "", creditNote, fmt.Errorf("%q names no document", key)
	}
	invoice, err = uuid.Parse(parts[0])
	creditNote, failed := uuid.Parse(parts[2])
	return invoice, parts[1], creditNote, errors.Join(err, failed)
}

// MakeDocuments makes all documents that are not stored yet, and returns how many there were.
func (s *Service) MakeDocuments(ctx context.Context) (made int, err error) {
	return s.documents.All(ctx)
}

// makeOne writes a document in each form, seals and stores it, and records that with the end of
// its task, all or nothing.
func (s *Service) makeOne(ctx context.Context, command billing.MakeDocument, task eventstore.TxStatement) (sagas.TaskEnd, error) {
	said, err := s.said(ctx, command.Invoice, command.Number)
	if err != nil || said.made != nil {
		return sagas.TaskIdle, err
	}
	command.At = s.Runner.Now()
	var rows []eventstore.TxStatement
	for _, format := range formats {
		clear, err := s.written(said.document, format)
		if format == "xml" && domain.CodeOf(err) == domain.Conflict { // it would break a rule
			continue
		}
		if err != nil {
			return sagas.TaskIdle, err
		}
		sealed, living, err := s.Store.SealFile(ctx, said.subject, domain.FiscalOf(said.year), placeOf(command.Number, format), clear)
		if err != nil {
			return sagas.TaskIdle, err
		}
		if !living { // it can never be read again
			command.Files, rows = nil, nil
			break
		}
		hash := sha256.Sum256(sealed)
		command.Files = append(command.Files, billing.StoredFile{Format: format, SHA256: hex.EncodeToString(hash[:]), Size: len(sealed)})
		rows = append(rows, eventstore.TxStatement{
			Key: "invoice_documents/" + command.Number + "/" + format,
			SQL: `insert into invoice_documents (number, format, invoice, subject, sealed) values ($1, $2, $3, $4, $5)
				on conflict do nothing`,
			Args: []any{command.Number, format, command.Invoice, said.subject, sealed}, WantRows: 1,
		})
	}
	cause := domain.Metadata{
		ID: uuid.NewSHA1(command.Invoice, []byte("document/"+command.Number)), Actor: "system:billing",
		Cause: said.cause, Correlation: said.correlation,
	}
	_, err = s.Store.ExecuteWith(ctx, cause, append(rows, task), command)
	return sagas.TaskRecorded, err
}

// formats are the forms of a document.
var formats = []string{"html", "pdf", "xml"}

func (s *Service) written(d document.Document, format string) ([]byte, error) {
	switch format {
	case "html":
		return s.Writers.HTML(d)
	case "pdf":
		return s.Writers.PDF(d)
	}
	return document.XML(d)
}

// placeOf is where a file stands, so that no other can take its place.
func placeOf(number, format string) sealing.Place {
	return sealing.Place{Kind: "document", ID: number, Pointer: "/" + format}
}

// A saying is what a document says, and what became of it.
type saying struct {
	document    document.Document
	subject     uuid.UUID
	year        int          // of its number, whose fiscal key seals it
	cause       domain.Cause // the event of its issue
	correlation uuid.UUID
	made        *billing.DocumentMade // nil: it is not stored yet
}

// said reads in the history of an invoice what a document of it says: the state at the
// moment of its issue, whatever came after.
func (s *Service) said(ctx context.Context, invoice uuid.UUID, number string) (found saying, err error) {
	history, err := s.Store.Read(ctx, billing.Issue{ID: invoice}.Stream())
	if err != nil {
		return found, err
	}
	var own document.Document
	for _, r := range history {
		issued := false
		switch e := r.Event.(type) {
		case billing.InvoiceIssued:
			if own, err = s.documentOf(ctx, invoice, e); err != nil {
				return found, err
			}
			found.subject = e.SubjectID
			if issued = e.Number() == number; issued {
				found.document, found.year = own, e.FiscalYear()
			}
		case billing.InvoicePaid:
			own.Method = s.methodName(own.Language, e.Method)
		case billing.CreditNoteIssued:
			own.Withdrawn = e.Closes
			if issued = e.Number() == number; issued {
				found.document, found.year = document.OfCreditNote(e, own, reasonOf(own, e)), e.FiscalYear()
			}
		case billing.DocumentMade:
			if e.Number == number {
				found.made = &e
			}
		}
		if issued {
			found.cause, found.correlation = r.Cause(), r.Metadata.Correlation
		}
	}
	if found.document.Number == "" {
		return found, domain.Refuse(domain.NotFound, "No Invoice matches the given query.")
	}
	return found, nil
}

// documentOf is an invoice as it was issued: paid if it was then, or open.
func (s *Service) documentOf(ctx context.Context, invoice uuid.UUID, e billing.InvoiceIssued) (document.Document, error) {
	bought, err := s.Tables.For(projections.System).Orders().Order(ctx, e.Order)
	if err != nil {
		return document.Document{}, err
	}
	terms := document.Terms{Language: bought.Language, Order: bought.OrderNumber, Due: e.DueAt}
	if e.Status == billing.Paid && invoice == e.Order {
		terms.Method = s.methodName(bought.Language, bought.PaymentMethod)
	}
	return document.OfInvoice(e, terms), nil
}

// reasonOf says why a credit note closes an unpaid invoice.
func reasonOf(own document.Document, e billing.CreditNoteIssued) string {
	if !e.Closes {
		return ""
	}
	return texts.Say(own.Language, "documents.withdrawn_"+e.Refund)
}

// methodName is a payment method as customers read it.
func (s *Service) methodName(language, name string) string {
	if slices.Contains(billing.ManualMethods, name) {
		return texts.Say(language, "documents.method_"+name)
	}
	return s.Offers.Called(language, name)
}

// Document is a stored document in a format. It is refused with [billing.ErrNotMade] until
// it is stored, with [billing.ErrDocumentErased] once its key is destroyed, and with a
// conflict if it would break the rules of the format.
func (s *Service) Document(ctx context.Context, invoice uuid.UUID, number, format string) ([]byte, error) {
	said, err := s.said(ctx, invoice, number)
	if err != nil {
		return nil, err
	}
	if said.made == nil {
		return nil, billing.ErrNotMade
	}
	file, is := said.made.File(format)
	switch {
	case len(said.made.Files) == 0:
		return nil, billing.ErrDocumentErased
	case !is:
		return nil, said.document.Check()
	}
	sealed, err := s.stored(ctx, number, format)
	if err != nil {
		return nil, err
	}
	if hash := sha256.Sum256(sealed); hex.EncodeToString(hash[:]) != file.SHA256 {
		return nil, fmt.Errorf("document %s, %s: the stored bytes are not those of the log", number, format)
	}
	clear, living, err := s.Store.OpenFile(ctx, said.subject, domain.FiscalOf(said.year), placeOf(number, format), sealed)
	if err == nil && !living {
		err = billing.ErrDocumentErased
	}
	return clear, err
}

func (s *Service) stored(ctx context.Context, number, format string) (sealed []byte, err error) {
	err = s.Store.Pool().QueryRow(
		ctx, `select sealed from invoice_documents where number = $1 and format = $2`, number, format,
	).Scan(&sealed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("document %s, %s: its bytes are not in the database", number, format)
	}
	return sealed, sagas.SQLError(err, "read document %s", number)
}
