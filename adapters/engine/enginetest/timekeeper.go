package enginetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A timekeeper notes the first call that was not answered in time: what a check finds
// after that says nothing about the engine.
type timekeeper struct {
	hosting.EngineServer

	mu   sync.Mutex
	late string
}

func (e *timekeeper) unanswered() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.late
}

func (e *timekeeper) note(what, kind string, begun time.Time, err error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if errors.Is(err, context.DeadlineExceeded) && e.late == "" {
		e.late = fmt.Sprintf("to %s a %s was not answered, took %s", what, kind, time.Since(begun).Round(time.Second))
	}
	return err
}

// Find notes it.
func (e *timekeeper) Find(ctx context.Context, kind, name, ref string) (hosting.EngineObject, bool, error) {
	begun := time.Now()
	o, is, err := e.EngineServer.Find(ctx, kind, name, ref)
	return o, is, e.note("find", kind, begun, err)
}

// Create notes it.
func (e *timekeeper) Create(ctx context.Context, o hosting.EngineObject) (int64, error) {
	begun := time.Now()
	id, err := e.EngineServer.Create(ctx, o)
	return id, e.note("create", o.Kind, begun, err)
}

// Change notes it.
func (e *timekeeper) Change(ctx context.Context, o hosting.EngineObject) error {
	begun := time.Now()
	return e.note("change", o.Kind, begun, e.EngineServer.Change(ctx, o))
}

// Remove notes it.
func (e *timekeeper) Remove(ctx context.Context, o hosting.EngineObject) error {
	begun := time.Now()
	return e.note("remove", o.Kind, begun, e.EngineServer.Remove(ctx, o))
}

// List notes it.
func (e *timekeeper) List(ctx context.Context, kind string, owner int64) ([]hosting.EngineObject, error) {
	begun := time.Now()
	all, err := e.EngineServer.List(ctx, kind, owner)
	return all, e.note("list", kind, begun, err)
}

// CheckForm is that of the engine, if it has one.
func (e *timekeeper) CheckForm(ctx context.Context, o hosting.EngineObject) (field.Errors, error) {
	if checker, is := e.EngineServer.(hosting.FormChecker); is {
		return checker.CheckForm(ctx, o)
	}
	return nil, nil
}

// FreeLogin is that of the engine, if it has one.
func (e *timekeeper) FreeLogin(ctx context.Context, login string) error {
	if freer, is := e.EngineServer.(loginFreer); is {
		return freer.FreeLogin(ctx, login)
	}
	return nil
}

// A loginFreer is an engine where a login can outlive its client.
type loginFreer interface {
	FreeLogin(ctx context.Context, login string) error
}
