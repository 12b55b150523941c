package enginetest

import (
	"encoding/json"
	"maps"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// cutsAtMost bounds the calls of one creation.
const cutsAtMost = 60

// cuts loses the answer of each call of a creation in turn: what is not there
// then, or perhaps in part, is created again, and the object is as whole as one that was made undisturbed.
func (w *world) cuts() {
	for _, kind := range append([]string{"tenant"}, kinds...) {
		o := w.until(kind)
		w.create(o)
		whole := w.there(o)
		w.gone(o)
		for n := 1; w.cutCreation(o, n, whole); n++ {
			if n == cutsAtMost {
				w.Fatalf("a %s takes more than %d calls", kind, cutsAtMost)
			}
		}
		w.emptied()
	}
}

// cutCreation loses the answer of the nth call; false: there was no such call.
func (w *world) cutCreation(o hosting.EngineObject, n int, whole hosting.EngineObject) bool {
	cut := w.Cut(n)
	_, err := w.Create(w.Context(), o)
	there := cut()
	if err != nil && domain.ClassOf(err) == domain.Permanent {
		w.Errorf("%s, answer %d lost: %v", o.Kind, n, err)
	}
	if err != nil {
		w.again(o)
	}
	w.sameAs(whole, o, n)
	w.gone(o)
	return there
}

// again does what the panel does after a creation without an answer: what is
// found whole is not created again.
func (w *world) again(o hosting.EngineObject) {
	w.Helper()
	if found, is := w.look(o.Kind, o.Name, o.Ref); !is || found.Partial {
		w.create(o)
	}
}

// sameAs compares what was made in spite of a lost answer with what was made
// undisturbed.
func (w *world) sameAs(whole, o hosting.EngineObject, n int) {
	found := w.there(o)
	if !alike(found, whole) {
		w.Errorf("%s, answer %d lost: %s %s, undisturbed %s %s", o.Kind, n, found.Values, found.Observed, whole.Values, whole.Observed)
	}
	owner := o.Owner
	if o.Kind == "tenant" {
		owner = found.ID
	}
	if all, err := w.List(w.Context(), o.Kind, owner); err != nil || len(all) != 1 {
		w.Errorf("%s, answer %d lost: %d objects, %v", o.Kind, n, len(all), err)
	}
	if o.ID = found.ID; w.observes(o.Kind) {
		w.applied(o)
		w.serves(o)
	}
}

func (w *world) observes(kind string) bool { return slices.Contains(w.Observable, kind) }

func (w *world) gone(o hosting.EngineObject) {
	w.Helper()
	found := w.there(o)
	o.ID, o.Secrets = found.ID, nil
	w.remove(o)
}

// alike compares what is read; of what only the engine knows, whether it is
// known.
func alike(a, b hosting.EngineObject) bool {
	same := func(x, y json.RawMessage) bool { return string(x) == string(y) }
	known := func(x, y json.RawMessage) bool { return (len(x) > len(`""`)) == (len(y) > len(`""`)) }
	return maps.EqualFunc(a.Values, b.Values, same) && maps.EqualFunc(a.Observed, b.Observed, known)
}

// serves waits until the server does what the object says.
func (w *world) serves(o hosting.EngineObject) {
	w.Helper()
	var err error
	if !w.eventually(func() bool { err = w.Serves(w.Context(), o); return err == nil }) {
		w.Errorf("the %s %s is applied and not served: %v", o.Kind, o.Name, err)
	}
}

// served compares what is applied with what the server does, after each object
// was made and after hard changes.
func (w *world) served() {
	w.inhabited()
	for _, kind := range w.Observable {
		w.applied(w.own(kind))
		w.serves(w.own(kind))
	}
	if slices.Contains(w.Observable, "dns_record") {
		w.hardTexts()
	}
	if slices.Contains(w.Observable, "database") {
		o := w.object("database")
		o.Secrets, o.Changed = hosting.Secrets{"db_password": newPassword}, []string{"db_password"}
		w.change(o)
		w.applied(o)
		w.serves(o)
	}
}

// hardTexts are records that a careless server cannot load: the zone is served
// with them, and so is what comes after.
func (w *world) hardTexts() {
	for _, text := range []string{`say "hello"`, `ends in \`, `x" ( "y`, `semi;colon`} {
		o := w.object("dns_record")
		o.ID, o.Name = 0, w.record("TXT", text)
		o.Values = values("record_type", "TXT", "name", "www", "data", text, "priority", 0, "ttl", 3600, "is_active", true)
		id, err := w.Create(w.Context(), o)
		if err != nil {
			w.fails(err, domain.Permanent, "invalid")
			continue
		}
		o.ID = id
		w.applied(o)
		w.serves(o)
	}
}
