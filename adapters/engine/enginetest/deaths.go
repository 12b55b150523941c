package enginetest

import (
	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// mostSteps bounds how many steps a creation has, and mostMinutes how long the panel
// waits for a server that may still be making something.
const (
	mostSteps   = 200
	mostMinutes = 60
)

// deaths lets the server die after each step of the creation of each kind. The panel
// then looks, and creates again what is not there or not known to be whole.
// In the end all of it is there, once, and carried out.
func (w *world) deaths() {
	for _, kind := range append([]string{"tenant"}, kinds...) {
		steps := 1
		for w.diesAfter(kind, steps) {
			if steps++; steps > mostSteps {
				w.Fatalf("the creation of a %s does not end", kind)
			}
		}
		if steps == 1 {
			w.Errorf("no server died over a %s", kind)
		}
	}
}

func (w *world) diesAfter(kind string, steps int) (cut bool) {
	w.Helper()
	o := w.until(kind)
	w.settle()
	mend := w.Die(kind, steps)
	_, err := w.Create(w.Context(), o)
	if cut = mend(); cut {
		w.tellsNoSecret(err)
		if class := domain.ClassOf(err); class != domain.Unknown && class != domain.Transient {
			w.Errorf("%s, cut after step %d: %v", kind, steps, err)
		}
	} else if err != nil {
		w.Fatalf("create the %s: %v", kind, err)
	}
	w.recreate(o, steps)
	if w.Torn != nil {
		if torn := w.Torn(); len(torn) > 0 {
			w.Errorf("%s, cut after step %d: %q", kind, steps, torn)
		}
	}
	w.emptied()
	return cut
}

// recreate does what the panel does after a creation without an answer.
func (w *world) recreate(o hosting.EngineObject, steps int) {
	w.Helper()
	found, is := w.look(o.Kind, o.Name, o.Ref)
	if !is || found.Partial {
		id, err := w.Create(w.Context(), o)
		for tries := 0; domain.ClassOf(err) == domain.Waiting && w.Pass != nil && tries < mostMinutes; tries++ {
			w.Pass()
			id, err = w.Create(w.Context(), o)
		}
		if err != nil {
			w.Fatalf("%s, cut after step %d: create it again: %v", o.Kind, steps, err)
		}
		found.ID = id
	}
	now := w.applied(o)
	if now.ID != found.ID || now.Partial || now.Refused {
		w.Errorf("%s, cut after step %d: %+v", o.Kind, steps, now)
	}
	owner := w.client
	if o.Kind == "tenant" {
		owner = now.ID
		w.usable(owner, steps)
	}
	if all, err := w.List(w.Context(), o.Kind, owner); err != nil || len(all) != 1 {
		w.Errorf("%s, cut after step %d: %+v, %v", o.Kind, steps, all, err)
	}
}

// usable makes something for a client.
func (w *world) usable(client int64, steps int) {
	w.Helper()
	w.client = client
	site := w.object("site")
	id, err := w.Create(w.Context(), site)
	if err != nil {
		w.Errorf("cut after step %d, the client is of no use: %v", steps, err)
		return
	}
	site.ID = id
	w.remove(site)
}
