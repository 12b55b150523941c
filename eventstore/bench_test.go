package eventstore_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

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
			if _, err := s.Append(
				b.Context(), domain.Metadata{}, domain.Stream{Category: "order", ID: uuid.NewString()}, 0, nil,
				placedOrder(subject),
			); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAppendPlain(b *testing.B) {
	s := orders(b)
	processorTime(b, func() {
		for b.Loop() {
			if _, err := s.Append(
				b.Context(), domain.Metadata{}, domain.Stream{Category: "order", ID: uuid.NewString()}, 0, nil,
				order.PaymentSessionFailed{},
			); err != nil {
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
			if history, err := s.Reader().After(b.Context(), 0, 1000); err != nil || history[999].Event.(order.Placed).Name != "Ana Ruiz" {
				b.Fatal(err)
			}
		}
	})
	b.ReportMetric(size, "bytes/event")
}

// An operation is one event of a log in which every third one is a placed order.
func BenchmarkReplay(b *testing.B) {
	s := orders(b)
	const streams = 5000
	for range streams {
		at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
		placed := order.Placed{
			Order: uuid.New(), Number: "ORD-20260302-8F3A6C", SubjectID: uuid.New(), Name: "Ana Ruiz", Email: "ana@example.com",
			Phone: "+34 600 100 200", Company: "Ruiz e Hijos S. L.", BillingPeriod: "monthly",
			Price: decimal.New(2370, -2), PeriodPrice: decimal.New(2370, -2),
			TaxRate: decimal.New(21, 0), Total: decimal.New(2870, -2), Subtotal: decimal.New(2370, -2), Tax: decimal.New(500, -2),
			Currency: "EUR", Provider: "test", Minor: 2870, Decimals: 2, Language: "es", APIKey: "ab12CD34", Owner: 7, At: at,
			Plan: order.Plan{ID: 3, Name: "Hosting M", ResourceType: "hosting"},
		}
		m := domain.Metadata{ID: uuid.New(), Actor: "api_key:ab12CD34", Cause: domain.RequestCause(uuid.New())}
		if _, err := s.Append(b.Context(), m, order.Stream(placed.Order), 0, nil, placed,
			order.PaymentSessionFailed{Code: "unavailable", At: at}, order.Cancelled{Reason: "expired", At: at}); err != nil {
			b.Fatal(err)
		}
	}
	folded := func(r *eventstore.Reader) func() {
		return func() {
			states := map[string]order.Order{}
			err := r.Replay(b.Context(), 0, func(e eventstore.RecordedEvent) error {
				states[e.Stream.ID] = order.Decider.Evolve(states[e.Stream.ID], e.Event.(order.Event))
				return nil
			})
			if err != nil || len(states) != streams {
				b.Fatal(len(states), err)
			}
		}
	}
	for name, replay := range map[string]func(){
		"folded": folded(s.Reader().Closed()), "opened": folded(s.Reader()),
		"verified": func() {
			if v, err := s.Reader().Verify(b.Context(), nil); err != nil || v.Checked != 3*streams || !v.Intact {
				b.Fatal(v, err)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			processorTime(b, func() {
				for n := 0; n < b.N; n += 3 * streams {
					replay()
				}
			})
		})
	}
}

// An operation is a command on a stream of so many events: hot, with its state in the
// cache, or cold, with nothing in it.
func BenchmarkLongStream(b *testing.B) {
	for _, c := range []struct{ length, streams int }{{10, 100}, {10_000, 1}} {
		s := newStore(b)
		coins := make([]domain.Event, c.length)
		for i := range coins {
			coins[i] = coinsPut{1}
		}
		for n := range c.streams {
			if _, err := s.Append(b.Context(), domain.Metadata{}, tillStream(fmt.Sprint(n)), 0, nil, coins...); err != nil {
				b.Fatal(err)
			}
		}
		for name, before := range map[string]func(){"hot": func() {}, "cold": s.Forget} {
			b.Run(fmt.Sprintf("%s/%d", name, c.length), func(b *testing.B) {
				for n := range c.streams {
					do(b, s, putIn{fmt.Sprint(n), 1})
				}
				settled(b, s)
				acquired := s.Pool().Stat().AcquireCount()
				processorTime(b, func() {
					for n := range b.N {
						before()
						do(b, s, putIn{fmt.Sprint(n % c.streams), 1})
					}
				})
				b.ReportMetric(float64(s.Pool().Stat().AcquireCount()-acquired)/float64(b.N), "trips/op")
			})
		}
	}
}

// An operation is one event from one of 64 writers, who share so many processes.
func BenchmarkAppendByProcesses(b *testing.B) {
	for _, processes := range []int{1, 2, 4} {
		b.Run(fmt.Sprint(processes), func(b *testing.B) {
			url := eventstoretest.URL(b)
			var all []*eventstore.Store
			for range processes {
				all = append(all, branchOn(b, url, 0))
			}
			var wg sync.WaitGroup
			left := atomic.Int64{}
			left.Store(int64(b.N))
			b.ResetTimer()
			processorTime(b, func() {
				for writer := range 64 {
					wg.Go(func() {
						for left.Add(-1) >= 0 {
							stream := domain.Stream{Category: "till", ID: uuid.NewString()}
							if _, err := all[writer%processes].Append(
								context.Background(), domain.Metadata{}, stream, 0, nil, coinsPut{1},
							); err != nil {
								b.Error(err)
							}
						}
					})
				}
				wg.Wait()
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
