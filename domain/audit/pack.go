package audit

import (
	"fmt"
	"time"

	"github.com/google/uuid"
)

// A PackOf is what an evidence pack is about: an order, a tenant or a period. More than
// one of them is their intersection.
type PackOf struct {
	Order    uuid.UUID
	Tenant   int64
	From, To time.Time // when events were recorded, both inclusive
}

// String names it in English.
func (p PackOf) String() string {
	about := "the log"
	switch {
	case p.Order != uuid.Nil:
		about = "order " + p.Order.String()
	case p.Tenant != 0:
		about = fmt.Sprintf("tenant %d", p.Tenant)
	}
	if !p.From.IsZero() {
		about += " from " + p.From.UTC().Format(time.RFC3339)
	}
	if !p.To.IsZero() {
		about += " to " + p.To.UTC().Format(time.RFC3339)
	}
	return about
}

// A Pack is one that was asked for and is made by an operation.
type Pack struct {
	ID      uuid.UUID // of the operation
	Status  string    // of the operation: queued, running, succeeded, failed
	Code    string    // why it has failed
	Size    int64     // of the file, in bytes; 0: it is not made yet
	AskedAt time.Time
}

// PacksPath is where packs are asked for and fetched.
const PacksPath = "/audit/api/v1/packs/"

// PackPath is where the file of a pack is.
func PackPath(operation uuid.UUID) string { return PacksPath + operation.String() + "/evidence.zip" }
