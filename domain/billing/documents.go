package billing

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
)

// MakeDocument records that the document of an invoice, or of a credit note of it, was
// written once and stored, sealed with the fiscal key of its buyer.
type MakeDocument struct {
	Invoice    uuid.UUID
	CreditNote uuid.UUID // zero: it is the invoice's own document
	Number     string    // of the document
	Files      []StoredFile
	At         time.Time
}

// A StoredFile is one form of a document, as it is stored: sealed.
type StoredFile struct {
	Format string `json:"format"` // html, pdf, xml
	SHA256 string `json:"sha256"` // of the sealed bytes, in hexadecimal digits
	Size   int    `json:"size"`   // of the sealed bytes
}

// DocumentMade: the document is stored, and is never written again. Without files it could
// not be, because the fiscal key of its buyer had been destroyed.
type DocumentMade struct {
	Number     string       `json:"number"`
	CreditNote uuid.UUID    `json:"credit_note,omitzero"`
	Files      []StoredFile `json:"files"`
	At         time.Time    `json:"at"`
}

func (DocumentMade) EventName() string { return "billing.document_made" }

func (e DocumentMade) Says() string {
	if len(e.Files) == 0 {
		return fmt.Sprintf("document %s cannot be made: the data of its buyer is erased", e.Number)
	}
	formats := make([]string, len(e.Files))
	for i, f := range e.Files {
		formats[i] = f.Format
	}
	return fmt.Sprintf("document %s is stored as %s", e.Number, strings.Join(formats, ", "))
}

// File is the form of the document by that name.
func (e DocumentMade) File(format string) (StoredFile, bool) {
	i := slices.IndexFunc(e.Files, func(f StoredFile) bool { return f.Format == format })
	if i < 0 {
		return StoredFile{}, false
	}
	return e.Files[i], true
}

var (
	// ErrNotMade refuses a document that is yet to be stored.
	ErrNotMade = &domain.Error{
		Code: domain.Unavailable, Reason: "document_not_made",
		Message: "The document is being made. It is there in a moment.",
	}
	// ErrDocumentErased refuses a document whose key was destroyed.
	ErrDocumentErased = &domain.Error{Code: domain.NotFound, Reason: "document_erased", Message: "The document was erased."}
	// errMadeBefore refuses to store a document a second time.
	errMadeBefore = &domain.Error{Code: domain.Conflict, Reason: "document_made", Message: "The document is stored already."}
)

func (c MakeDocument) decide(i Invoice) ([]InvoiceEvent, error) {
	switch {
	case !i.Issued:
		return nil, domain.Refuse(domain.NotFound, "No Invoice matches the given query.")
	case i.Documents[c.Number]:
		return nil, errMadeBefore
	}
	return []InvoiceEvent{DocumentMade{Number: c.Number, CreditNote: c.CreditNote, Files: c.Files, At: c.At}}, nil
}

func (e DocumentMade) evolve(i Invoice) Invoice {
	i.Documents = maps.Clone(i.Documents)
	if i.Documents == nil {
		i.Documents = map[string]bool{}
	}
	i.Documents[e.Number] = true
	return i
}

// Stream is the history of the invoice.
func (c MakeDocument) Stream() domain.Stream { return invoice(c.Invoice) }
