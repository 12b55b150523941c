package sagas_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
	"hostpanel/sagas"
)

type parcel struct{ Number int }

// A carrier is a system outside. It sends each parcel, and its first answer is lost.
type carrier struct{ vans map[int]string }

func (c *carrier) send(number int) (sagas.Result, error) {
	fmt.Println("the carrier sends parcel", number)
	c.vans[number] = "van 1"
	return sagas.Result{}, domain.Fail(domain.Unknown, "timeout", errors.New("no answer"))
}

func (c *carrier) find(number int) (sagas.Result, sagas.Found, error) {
	fmt.Println("the carrier is asked for parcel", number)
	if van, is := c.vans[number]; is {
		return sagas.Result{External: van}, sagas.Yes, nil
	}
	return sagas.Result{}, sagas.No, nil
}

// A saga is a list of steps. What a step changes outside is looked up before it is repeated, so a
// lost answer sends no second parcel.
func Example() {
	outside := &carrier{vans: map[int]string{}}
	delivery := sagas.Saga[parcel]{Name: "delivery", Definition: "delivery/1", Steps: []sagas.Step[parcel]{{
		Name: "pack", Says: "pack the parcel", Queue: sagas.LocalQueue, Policy: sagas.Policy{Attempts: 3},
		Local: &sagas.Local[parcel]{Do: func(context.Context, *parcel) (sagas.Work, error) { return sagas.Work{}, nil }},
	}, {
		Name: "send", Says: "hand it to the carrier", Queue: sagas.LocalQueue,
		Policy: sagas.Policy{Timeout: time.Second, Budget: time.Hour, Base: time.Millisecond, Cap: time.Second},
		Effect: &sagas.Effect[parcel]{
			Key: func(p parcel) string { return fmt.Sprintf("parcel/%d", p.Number) },
			Prepare: func(_ context.Context, p *parcel) (sagas.Call, error) {
				return sagas.Call{
					Request: p.Number,
					Lookup:  func(context.Context) (sagas.Result, sagas.Found, error) { return outside.find(p.Number) },
					Do:      func(context.Context) (sagas.Result, error) { return outside.send(p.Number) },
				}, nil
			},
		},
	}}}
	eventstoretest.Example(func(t testing.TB) {
		for _, event := range carriedOut(t, delivery, "7", parcel{7}) {
			fmt.Println(event.Event.Says())
		}
	})
	// Output:
	// the carrier sends parcel 7
	// the carrier is asked for parcel 7
	// run delivery/1 begins, 2 steps
	// done: pack
	// done: send, made van 1 (it was there already)
}

// carriedOut starts a run of a saga, works until it is over, and returns its events.
func carriedOut[I any](t testing.TB, saga sagas.Saga[I], key string, in I) []eventstore.RecordedEvent {
	url := eventstoretest.URL(t, eventstore.Migration{Area: "sagas", Files: sagas.Migrations})
	store := eventstore.Open(eventstoretest.Pool(t, url),
		domain.NewCatalogue(sagas.EventTypes, operations.IncidentEventTypes), eventstoretest.Keys(t), eventstoretest.Caused())
	eventstore.Serve(store, sagas.Category, sagas.Decider)
	times := sagas.Defaults
	times.Floor = time.Millisecond
	runner := sagas.New(sagas.Options{Store: store, Times: times, Log: slog.New(slog.DiscardHandler)})
	start := runner.Starting(0, sagas.Register(runner, saga).Start(key, in, uuid.Nil))
	_, err := store.ExecuteWith(t.Context(), domain.Metadata{Actor: "system:example"}, start.Rows, start.Command)
	for run := (sagas.Run{}); err == nil && !run.Over(); {
		if _, err = runner.WorkOne(t.Context(), sagas.LocalQueue); err == nil {
			run, err = runner.RunNamed(t.Context(), saga.Name+":"+key)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	history, err := store.Read(t.Context(), sagas.StreamOf(saga.Name+":"+key))
	if err != nil {
		t.Fatal(err)
	}
	return history
}
