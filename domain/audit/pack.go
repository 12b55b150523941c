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
