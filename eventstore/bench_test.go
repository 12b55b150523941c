package eventstore_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// placedOrder has four personal texts, as many as any event.
func placedOrder(subject uuid.UUID) order.Placed {
	return order.Placed{
		Order: uuid.New(), SubjectID: subject, Name: "Ana Ruiz", Email: "ana@example.com",
		Phone: "+34 600 100 200", Company: "Ruiz e Hijos S. L.",
	}
}

func orders(b *testing.B) *eventstore.Store {
	return eventstoretest.Store(b, domain.NewCatalogue(order.EventTypes))
}

// processorTime runs f and reports the time that this process spent per operation.
func processorTime(b *testing.B, f func()) {
	b.Helper()
	used := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	f()
	b.ReportMetric(float64(used()-before)/float64(b.N), "cpu-ns/op")
}

func BenchmarkAppendSealed(b *testing.B) {
	s, subject := orders(b), uuid.New()
	processorTime(b, func() {
		for b.Loop() {
			if _, err := s.Append(b.Context(), domain.Metadata{}, domain.Stream{Category: "order", ID: uuid.NewString()}, 0, nil, placedOrder(subject)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppendPlain(b *testing.B) {
	s := orders(b)
	processorTime(b, func() {
		for b.Loop() {
			if _, err := s.Append(b.Context(), domain.Metadata{}, domain.Stream{Category: "order", ID: uuid.NewString()}, 0, nil, order.PaymentSessionFailed{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// An operation is a read of 1,000 events.
func BenchmarkReadSealed(b *testing.B) {
	s, subject := orders(b), uuid.New()
	events := make([]domain.Event, 1000)
	for i := range events {
		events[i] = placedOrder(subject)
	}
	if _, err := s.Append(b.Context(), domain.Metadata{}, domain.Stream{Category: "order", ID: "1"}, 0, nil, events...); err != nil {
		b.Fatal(err)
	}
	var size float64
	if err := s.Pool().QueryRow(b.Context(), `select avg(octet_length(data::text)) from events`).Scan(&size); err != nil {
		b.Fatal(err)
	}
	processorTime(b, func() {
		for b.Loop() {
			if history, err := s.After(b.Context(), 0, 1000); err != nil || history[999].Event.(order.Placed).Name != "Ana Ruiz" {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(size, "bytes/event")
}
