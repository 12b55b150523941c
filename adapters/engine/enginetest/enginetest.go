// Package enginetest is what the panel asks of every hosting engine, as tests:
// the tests of an adapter run them against it (docs/engines.md).
package enginetest

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// An Engine is one to try, empty, and what the suite has to know of the server
// behind it.
type Engine struct {
	hosting.EngineServer
	Settle func()                                // lets the server carry out what it has accepted; nil: it does so at once
	Books  func() string                         // all that the server keeps and has said, to search for secrets
	Lose   func(t *testing.T, call, kind string) // the next such call ("create", "change", "remove") is carried out, and its answer is lost
	Lacks  []string                              // kinds that it has not
}

// Run tries an engine. open starts an empty one for each test.
func Run(t *testing.T, open func(t *testing.T) Engine) {
	for _, c := range []struct {
		name string
		test func(*world)
	}{
		{"EveryKindIsMadeFoundListedAndRemoved", (*world).life},
		{"WhatIsTrueOfAnObjectIsReadBack", (*world).readBack},
		{"EveryKindIsChanged", (*world).changes},
		{"AChangeIsAboutTheFieldsThatItNames", (*world).namedFields},
		{"AChangeOfWhatIsNotThereSaysSo", (*world).absent},
		{"ASiteKeepsItsPlaceWhenItsNameChanges", (*world).renamed},
		{"ARecordOfAnotherTypeIsFoundByItsNewName", (*world).replaced},
		{"AJobIsFoundByWhenItRunsAndWhatItDoes", (*world).rescheduled},
		{"WhatWasMadeWithoutAnAnswerIsFoundAndMadeOnce", (*world).lostCreation},
		{"WhatWasChangedWithoutAnAnswerIsChangedAgain", (*world).lostChange},
		{"WhatWasRemovedWithoutAnAnswerIsGone", (*world).lostRemoval},
		{"TwinsAtOnceAreOne", (*world).twins},
		{"ANameOfSomebodyElseIsTaken", (*world).taken},
		{"NothingOfSomebodyElseIsTouched", (*world).foreign},
		{"NothingBelongsToWhatIsNotThere", (*world).orphans},
		{"NothingIsLeftBehind", (*world).leftBehind},
		{"ADatabaseOutlivesItsSite", (*world).databases},
		{"NamesThatTheServerWouldChangeAreRefused", (*world).names},
		{"WhatNeedsASecretIsNotMadeWithout", (*world).secretless},
		{"SecretsAreKeptNowhere", (*world).secrets},
		{"WhatTheEngineHasNotIsNotSupported", (*world).unsupported},
		{"UsageIsOfOneClient", (*world).usage},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(&world{T: t, Engine: open(t), made: map[string]int64{}}) })
	}
}

// patience bounds every wait; the machine may be busy.
const patience = time.Minute

// A world is an engine, a client on it, and the numbers of what the client has
// by kind.
type world struct {
	*testing.T
	Engine
	client int64
	made   map[string]int64
}

// inhabited gives the client one of every kind.
func (w *world) inhabited() {
	w.Helper()
	w.client = w.create(tenant("t17"))
	for _, kind := range kinds {
		w.made[kind] = w.create(w.object(kind))
	}
	w.settle()
}

func (w *world) settle() {
	if w.Settle != nil {
		w.Settle()
	}
}

// create makes an object that has to be made.
func (w *world) create(o hosting.EngineObject) int64 {
	w.Helper()
	id, err := w.Create(w.Context(), o)
	if err != nil || id < 1 {
		w.Fatalf("create the %s %s: %d, %v", o.Kind, o.Name, id, err)
	}
	return id
}

func (w *world) change(o hosting.EngineObject) {
	w.Helper()
	if err := w.Change(w.Context(), o); err != nil {
		w.Fatalf("change the %s %s: %v", o.Kind, o.Name, err)
	}
}

func (w *world) remove(o hosting.EngineObject) {
	w.Helper()
	if err := w.Remove(w.Context(), o); err != nil {
		w.Fatalf("remove the %s %s: %v", o.Kind, o.Name, err)
	}
}

func (w *world) look(kind, name, ref string) (hosting.EngineObject, bool) {
	w.Helper()
	o, found, err := w.Find(w.Context(), kind, name, ref)
	if err != nil {
		w.Fatalf("find the %s %s: %v", kind, name, err)
	}
	return o, found
}

// there is an object that has to be found.
func (w *world) there(o hosting.EngineObject) hosting.EngineObject {
	w.Helper()
	found, is := w.look(o.Kind, o.Name, o.Ref)
	if !is {
		w.Fatalf("there is no %s %s", o.Kind, o.Name)
	}
	return found
}

// applied waits until an object has been carried out.
func (w *world) applied(o hosting.EngineObject) hosting.EngineObject {
	w.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		w.settle()
		if found := w.there(o); found.Applied {
			return found
		}
		if time.Now().After(deadline) {
			w.Fatalf("the %s %s is never applied", o.Kind, o.Name)
		}
	}
}

// fails wants a failure of a class, with one of the codes; none: with any.
func (w *world) fails(err error, class domain.Class, codes ...string) {
	w.Helper()
	f, ok := errors.AsType[*domain.Failure](err)
	if !ok || f.Class != class || len(codes) > 0 && !slices.Contains(codes, f.Code) {
		w.Errorf("a %s failure %s was expected, not: %v", class, strings.Join(codes, " or "), err)
	}
	w.tellsNoSecret(err)
}

func (w *world) tellsNoSecret(err error) {
	w.Helper()
	if err != nil && (strings.Contains(err.Error(), password) || strings.Contains(err.Error(), newPassword)) {
		w.Errorf("the failure tells a secret: %v", err)
	}
}

func values(pairs ...any) field.Values {
	all := field.Values{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i].(string)], _ = json.Marshal(pairs[i+1])
	}
	return all
}

// with is an object with other values, which its change names.
func with(o hosting.EngineObject, pairs ...any) hosting.EngineObject {
	o.Values, o.Secrets, o.Changed = maps.Clone(o.Values), nil, nil
	for name, v := range values(pairs...) {
		o.Values[name] = v
		o.Changed = append(o.Changed, name)
	}
	slices.Sort(o.Changed)
	return o
}
