//go:build system

package years_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"reflect"
	"sync/atomic"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/sagas/assembly"
	"hostpanel/sagas/sagastest"
)

// Another process of the panel is a program of its own, which can be killed as an operating
// system kills programs. What is outside of both is the test's: the other process asks it.

// The variables that tell this program that it is such a process: of the outside, and of
// the database.
const (
	outsideAt  = "HOSTPANEL_YEARS_OUTSIDE"
	databaseAt = "HOSTPANEL_YEARS_DATABASE"
)

// others are the other processes of a world.
type others struct {
	*sagastest.World
	asked atomic.Int64 // calls to what is outside
}

// joins starts such a process, which runs the test that begins with [beside]. It is
// killed with all that it is at.
func (w *others) joins() (kill func()) {
	w.T.Helper()
	outside := httptest.NewServer(w.outside())
	process := exec.Command(os.Args[0], "-test.run", "^"+w.T.Name()+"$", "-test.timeout", "0")
	process.Env = append(os.Environ(), outsideAt+"="+outside.URL, databaseAt+"="+w.URL())
	var said bytes.Buffer
	process.Stdout, process.Stderr = &said, w.Logged
	_, err := process.StdinPipe() // it ends with this one
	w.Must(err)
	w.Must(process.Start())
	killed := false
	kill = func() {
		if killed {
			return
		}
		killed = true
		if err := process.Process.Kill(); err != nil {
			w.T.Errorf("the other process has ended by itself: %v", err)
		}
		_ = process.Wait()
		outside.Close()
		if said.Len() > 0 {
			w.T.Errorf("the other process says:\n%s", &said)
		}
	}
	w.T.Cleanup(kill)
	return kill
}

// outside answers calls to what is outside: the path names whom and what, the body has the
// arguments, and the answer has the failure or the results.
func (w *others) outside() http.Handler {
	all := map[string]reflect.Value{
		"engine": reflect.ValueOf(w.Engine), "mail": reflect.ValueOf(w.Mail), "provider": reflect.ValueOf(w.Pay),
	}
	routes := http.NewServeMux()
	routes.HandleFunc("POST /{who}/{call}", func(rw http.ResponseWriter, r *http.Request) {
		w.asked.Add(1)
		call := all[r.PathValue("who")].MethodByName(r.PathValue("call"))
		arguments, sent := []reflect.Value{reflect.ValueOf(r.Context())}, gob.NewDecoder(r.Body)
		for n := 1; n < call.Type().NumIn(); n++ {
			v := reflect.New(call.Type().In(n))
			if err := sent.DecodeValue(v); err != nil {
				http.Error(rw, err.Error(), http.StatusBadRequest)
				return
			}
			arguments = append(arguments, v.Elem())
		}
		results := call.Call(arguments)
		last := len(results) - 1
		failed, _ := results[last].Interface().(error)
		answer := gob.NewEncoder(rw)
		_ = answer.Encode(tellFailure(failed))
		for _, v := range results[:last] {
			if failed == nil {
				_ = answer.EncodeValue(v)
			}
		}
	})
	return routes
}

// A toldFailure is an error as another process is told of it.
type toldFailure struct {
	Text    string // blank: there is none
	Failure domain.Failure
}

func tellFailure(err error) (f toldFailure) {
	if err == nil {
		return f
	}
	f.Text = err.Error()
	if failure, is := errors.AsType[*domain.Failure](err); is {
		f.Failure = *failure
		f.Failure.Err = nil
	}
	return f
}

func (f toldFailure) err() error {
	err := errors.New(f.Text)
	switch {
	case f.Text == "":
		return nil
	case f.Failure.Class == "":
		return err
	}
	f.Failure.Err = err
	return &f.Failure
}

// asking are the calls of a process to what is outside of it.
type asking struct{ at string }

// ask makes a call with its arguments, and reads its results into what is pointed at.
func (a asking) ask(ctx context.Context, call string, arguments []any, results ...any) error {
	var body bytes.Buffer
	sent := gob.NewEncoder(&body)
	for _, v := range arguments {
		if err := sent.Encode(v); err != nil {
			return err
		}
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, a.at+"/"+call, &body)
	if err != nil {
		return err
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return domain.Fail(domain.Unknown, "unanswered", err)
	}
	defer func() { _ = r.Body.Close() }()
	var failed toldFailure
	answer := gob.NewDecoder(r.Body)
	for _, into := range append([]any{&failed}, results...) {
		if err := answer.Decode(into); err != nil {
			return fmt.Errorf("read the answer to %s: %w", call, err)
		}
		if err := failed.err(); err != nil {
			return err
		}
	}
	return nil
}

type askedEngine struct{ asking }

func (askedEngine) Server() string { return "one" }

func (e askedEngine) Find(ctx context.Context, kind, name, ref string) (o hosting.EngineObject, found bool, err error) {
	err = e.ask(ctx, "engine/Find", []any{kind, name, ref}, &o, &found)
	return o, found, err
}

func (e askedEngine) Create(ctx context.Context, o hosting.EngineObject) (id int64, err error) {
	err = e.ask(ctx, "engine/Create", []any{o}, &id)
	return id, err
}

func (e askedEngine) Change(ctx context.Context, o hosting.EngineObject) error {
	return e.ask(ctx, "engine/Change", []any{o})
}

func (e askedEngine) Remove(ctx context.Context, o hosting.EngineObject) error {
	return e.ask(ctx, "engine/Remove", []any{o})
}

func (e askedEngine) List(ctx context.Context, kind string, owner int64) (all []hosting.EngineObject, err error) {
	err = e.ask(ctx, "engine/List", []any{kind, owner}, &all)
	return all, err
}

func (e askedEngine) Usage(ctx context.Context, owner int64) (u hosting.Usage, err error) {
	err = e.ask(ctx, "engine/Usage", []any{owner}, &u)
	return u, err
}

type askedMail struct{ asking }

func (m askedMail) Send(ctx context.Context, mail notice.Mail) error {
	return m.ask(ctx, "mail/Send", []any{mail})
}

// An askedProvider asks for all but what needs no books.
type askedProvider struct {
	*sagastest.Payments
	asking
}

func (p askedProvider) ask(ctx context.Context, call string, arguments []any, results ...any) error {
	return p.asking.ask(ctx, "provider/"+call, arguments, results...)
}

func (p askedProvider) OpenSession(ctx context.Context, c order.Checkout) (s order.Session, err error) {
	err = p.ask(ctx, "OpenSession", []any{c}, &s)
	return s, err
}

func (p askedProvider) Fetch(ctx context.Context, session string) (f order.Fetched, err error) {
	err = p.ask(ctx, "Fetch", []any{session}, &f)
	return f, err
}

func (p askedProvider) ExpireSession(ctx context.Context, session string) error {
	return p.ask(ctx, "ExpireSession", []any{session})
}

func (p askedProvider) Capture(ctx context.Context, c order.CaptureCall) error {
	return p.ask(ctx, "Capture", []any{c})
}

func (p askedProvider) Refund(ctx context.Context, c order.RefundCall) (r order.Refund, err error) {
	err = p.ask(ctx, "Refund", []any{c}, &r)
	return r, err
}

func (p askedProvider) Forget(ctx context.Context, m order.SavedMethod) error {
	return p.ask(ctx, "Forget", []any{m})
}

func (p askedProvider) OpenSetup(ctx context.Context, c order.Checkout) (s order.Session, err error) {
	err = p.ask(ctx, "OpenSetup", []any{c}, &s)
	return s, err
}

func (p askedProvider) FinishSetup(ctx context.Context, c order.SetupCall) (*order.SavedMethod, error) {
	var saved order.SavedMethod
	err := p.ask(ctx, "FinishSetup", []any{c}, &saved)
	return &saved, err
}

// beside works as another process until it is killed, if this program is one.
func beside(w *sagastest.World, change ...func(*assembly.Options)) (is bool) {
	at, is := os.LookupEnv(outsideAt)
	if !is {
		return false
	}
	asked := asking{at}
	w.Engine, w.Compute, w.Mail, w.Pay, w.Logged = sagastest.NewEngine(), sagastest.NewCompute(), sagastest.NewMail(),
		sagastest.NewPayments(), &sagastest.SyncBuffer{}
	w.Instance = w.Node(os.Getenv(databaseAt), append(change, func(o *assembly.Options) {
		o.Engine, o.Mail, o.Payments = askedEngine{asked}, askedMail{asked}, map[string]order.Provider{"test": askedProvider{w.Pay, asked}}
		o.Log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	})...)
	w.Moves()
	w.Start(w.Instance)
	_, _ = io.Copy(io.Discard, os.Stdin)
	return true
}
