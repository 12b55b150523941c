package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/evidence"
	"hostpanel/eventstore/sealing"
	"hostpanel/eventstore/tlog"
	"hostpanel/eventstore/tlog/tree"
)

// transparency measures what the tree over all events costs, and how fast it proves.
func (r *run) transparency(ctx context.Context) error {
	l, err := r.logOf(ctx, "bench_tree")
	if err != nil {
		return err
	}
	defer l.close()
	if err := r.sealing(ctx, l); err != nil {
		return err
	}
	events := int64(1_000_000)
	if r.Smoke {
		events = 20_000
	}
	return r.proving(ctx, l, events)
}

// A sealedLog is a log with a tree.
type sealedLog struct {
	owner  *pgxpool.Pool
	pool   *pgxpool.Pool
	store  *eventstore.Store
	sealer *tree.Sealer
}

func (r *run) logOf(ctx context.Context, name string) (l sealedLog, err error) {
	url, owner, err := r.database(ctx, name)
	if err != nil {
		return l, err
	}
	if l.pool, err = eventstore.Connect(ctx, url, 20); err != nil {
		return l, err
	}
	keys, err := sealing.ParseKeyring(sealing.NewSecretKey())
	if err != nil {
		return l, err
	}
	l.owner = owner
	l.store = eventstore.Open(l.pool, domain.NewCatalogue([]domain.EventType{domain.Register[paid]()}), keys)
	l.sealer = tree.NewSealer(l.pool, keys, func() string { return "bench.example/audit/log" }, "")
	return l, nil
}

func (l sealedLog) close() { l.pool.Close(); l.owner.Close() }

// sealing compares appends without and with a sealer beside them. The log grows meanwhile, so
// those without are measured before and after.
func (r *run) sealing(ctx context.Context, l sealedLog) error {
	rates := map[float64]float64{} // with the sealer, by their ratio to those without
	var worst time.Duration
	ratio, err := r.median(func() (float64, error) {
		before, err := r.appendsTo(ctx, l)
		if err == nil {
			err = l.seal(ctx)
		}
		if err != nil {
			return 0, err
		}
		sealed, lag, err := r.appendsSealed(ctx, l)
		if err != nil {
			return 0, err
		}
		after, err := r.appendsTo(ctx, l)
		if err == nil {
			err = l.seal(ctx)
		}
		ratio := 2 * sealed / (before + after)
		worst, rates[ratio] = max(worst, lag), sealed
		return ratio, err
	})
	if err != nil {
		return err
	}
	r.report(Result{
		Section: "transparency", Name: "append one event, 64 writers, while the log is sealed", Value: rates[ratio], Unit: "/s",
		Ratio: ratio, Peer: "without", Bar: 0.98,
	})
	r.report(
		Result{
			Section: "transparency", Name: "longest time until an event was sealed", Value: worst.Seconds(), Unit: "s",
			Bar: 1, AtMost: true,
		},
	)
	return nil
}

// appendsSealed is [run.appendsTo] with a sealer beside it. It also returns the longest
// time until an event was sealed.
func (r *run) appendsSealed(ctx context.Context, l sealedLog) (rate float64, worst time.Duration, err error) {
	sealing, stop := context.WithCancel(ctx)
	var beside sync.WaitGroup
	beside.Go(func() {
		l.sealer.Run(sealing, slog.New(slog.NewTextHandler(io.Discard, nil)), l.store.Changed)
	})
	beside.Go(func() { worst = l.lag(sealing) })
	rate, err = r.appendsTo(ctx, l)
	stop()
	beside.Wait()
	return rate, worst, err
}

// appendsTo adds single events to streams of their own.
func (r *run) appendsTo(ctx context.Context, l sealedLog) (float64, error) {
	done, err := together(ctx, 64, r.duration, func(ctx context.Context, _, _ int) error {
		return l.append(ctx, somePayment)
	})
	return done.perSecond, err
}

func (l sealedLog) append(ctx context.Context, events ...domain.Event) error {
	stream := domain.Stream{Category: "bench", ID: uuid.NewString()}
	_, err := l.store.Append(ctx, domain.Metadata{ID: uuid.New(), Actor: "system:bench"}, stream, 0, nil, events...)
	return err
}

// seal brings the tree up to date.
func (l sealedLog) seal(ctx context.Context) error {
	for {
		if n, err := l.sealer.Seal(ctx); err != nil || n == 0 {
			return err
		}
	}
}

// lag looks, until ctx ends, how old the oldest event is that is not sealed.
func (l sealedLog) lag(ctx context.Context) (worst time.Duration) {
	for ctx.Err() == nil {
		if lag, err := l.sealer.Lag(ctx); err == nil && lag.Since != nil {
			worst = max(worst, clock.Since(*lag.Since))
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
	return worst
}

// proving measures proofs and the check of a log of many events.
func (r *run) proving(ctx context.Context, l sealedLog, events int64) error {
	var many []domain.Event
	for range 100 {
		many = append(many, somePayment)
	}
	_, err := together(ctx, 16, time.Hour, func(ctx context.Context, _, n int) error {
		if head, _, err := l.store.Reader().Head(ctx); err != nil || head >= events {
			return errors.Join(err, errEnough)
		}
		return l.append(ctx, many...)
	})
	if err = enough(err); err == nil {
		err = l.seal(ctx)
	}
	if err != nil {
		return err
	}
	proofs, err := together(ctx, 1, r.duration, func(ctx context.Context, _, n int) error {
		_, err := l.sealer.Proof(ctx, 1+int64(n)*7919%events)
		return err
	})
	if err != nil {
		return err
	}
	r.report(Result{
		Section: "transparency", Name: fmt.Sprintf("proof of one event in %d, p50", events),
		Value: milliseconds(proofs.at(0.5)), Unit: "ms", Bar: 5, AtMost: true,
	})
	if err := r.packing(ctx, l, events); err != nil {
		return err
	}
	start := clock.Now()
	v, err := l.store.Reader().Verify(ctx, nil)
	if err != nil {
		return err
	}
	took := clock.Since(start).Seconds() * float64(events) / float64(v.Checked)
	r.report(Result{
		Section: "transparency", Name: fmt.Sprintf("check of %d events with their tree", events), Value: took, Unit: "s",
		Bar: 10, AtMost: true,
		Note: map[bool]string{false: "NOT INTACT: " + v.Reason}[v.Intact],
	})
	return nil
}

// packing measures an evidence pack of events that are far from each other in the log.
func (r *run) packing(ctx context.Context, l sealedLog, events int64) error {
	const packed = 30
	var positions []int64
	for n := range int64(packed) {
		positions = append(positions, 1+n*events/packed)
	}
	var pack evidence.Pack
	var leaves []tlog.Leaf
	var err error
	if pack.Events, leaves, _, err = l.store.Reader().Evidence(ctx, positions); err != nil {
		return err
	}
	proofs, origin, err := l.sealer.Proofs(ctx, positions)
	if err != nil {
		return err
	}
	pack.Policy = origin.AcceptedBy()
	for i := range pack.Events {
		proofs[i].Extra = leaves[i][:]
		pack.Events[i].Proof = proofs[i].Text()
	}
	var file bytes.Buffer
	if err := pack.Zip(&file); err != nil {
		return err
	}
	r.report(Result{
		Section: "transparency", Name: fmt.Sprintf("evidence pack of %d events in %d, without texts and page", packed, events),
		Value: float64(file.Len()) / 1000, Unit: "kB", Bar: 40, AtMost: true,
	})
	return nil
}
