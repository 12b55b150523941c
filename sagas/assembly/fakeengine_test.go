package assembly_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

type fakeEngine struct {
	lies
	mu      sync.Mutex
	objects map[string]hosting.EngineObject
	made    map[string]int
	removed map[string]int
	changed map[string]int
	last    int64
	applied func(hosting.EngineObject) bool
	hidden  func(name string) bool          // it is not shown
	refused func(hosting.EngineObject) bool // accepted, and then not carried out
	strict  bool                            // what has another name than the one that is told is neither renamed nor removed
}

func newEngine() *fakeEngine {
	return &fakeEngine{objects: map[string]hosting.EngineObject{}, made: map[string]int{}, removed: map[string]int{}, changed: map[string]int{}}
}

func (*fakeEngine) Server() string { return "one" }

func (e *fakeEngine) Find(_ context.Context, kind, name, _ string) (hosting.EngineObject, bool, error) {
	if err := e.ask(false, "find", kind+"/"+name); err != nil {
		return hosting.EngineObject{}, false, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	o, ok := e.objects[kind+"/"+name]
	if e.hidden != nil && e.hidden(kind+"/"+name) {
		return hosting.EngineObject{}, false, nil
	}
	o.Refused = ok && e.refused != nil && e.refused(o)
	o.Applied = ok && !o.Refused && (e.applied == nil || e.applied(o))
	return o, ok, nil
}

func (e *fakeEngine) Create(_ context.Context, o hosting.EngineObject) (int64, error) {
	name := o.Kind + "/" + o.Name
	if err := e.ask(false, "create", name); err != nil {
		return 0, err
	}
	id, err := e.create(name, o)
	if err == nil {
		err = e.ask(true, "create", name)
	}
	return id, err
}

func (e *fakeEngine) create(name string, o hosting.EngineObject) (int64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, taken := e.objects[name]; taken {
		return 0, domain.Fail(domain.Permanent, "name_taken", fmt.Errorf("%s exists", name))
	}
	if err := e.belongs(o); err != nil {
		return 0, err
	}
	e.last++
	o.ID = e.last
	e.objects[name] = o
	e.made[name]++
	return o.ID, nil
}

// belongs refuses an object whose client, or what it is a part of, is not there.
func (e *fakeEngine) belongs(o hosting.EngineObject) error {
	there := map[int64]bool{}
	for _, other := range e.objects {
		there[other.ID] = true
	}
	if o.Owner != 0 && !there[o.Owner] {
		return domain.Fail(domain.Permanent, "owner_missing", fmt.Errorf("there is no client %d", o.Owner))
	}
	for field, id := range o.Parents {
		if id != 0 && !there[id] {
			return domain.Fail(domain.Permanent, "parent_missing", fmt.Errorf("there is no %s %d", field, id))
		}
	}
	return nil
}

func (e *fakeEngine) Change(_ context.Context, o hosting.EngineObject) error {
	name := o.Kind + "/" + o.Name
	if err := e.ask(false, "change", name); err != nil {
		return err
	}
	if err := e.change(name, o); err != nil {
		return err
	}
	return e.ask(true, "change", name)
}

func (e *fakeEngine) change(name string, o hosting.EngineObject) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	before, there := e.numbered(o.Kind, o.ID)
	if !there {
		return domain.Fail(domain.Permanent, "absent", fmt.Errorf("%s is not there", name))
	}
	if e.strict && before != name && before != o.Kind+"/"+o.Former {
		return domain.Fail(domain.Permanent, "drift", fmt.Errorf("%s is %s", name, before))
	}
	if other, taken := e.objects[name]; taken && other.ID != o.ID {
		return domain.Fail(domain.Permanent, "name_taken", fmt.Errorf("%s exists", name))
	}
	delete(e.objects, before)
	e.objects[name] = o
	e.changed[name]++
	e.follow(before, name)
	return nil
}

// follow renames the certificate of a site with it, as engines do.
func (e *fakeEngine) follow(before, after string) {
	was, isSite := strings.CutPrefix(before, "site/")
	certificate, has := e.objects["ssl_certificate"+"/"+was]
	if !isSite || !has || before == after {
		return
	}
	certificate.Name = strings.TrimPrefix(after, "site/")
	delete(e.objects, "ssl_certificate"+"/"+was)
	e.objects["ssl_certificate"+"/"+certificate.Name] = certificate
}

// numbered is the name of an object with this number.
func (e *fakeEngine) numbered(kind string, id int64) (string, bool) {
	for name, o := range e.objects {
		if o.Kind == kind && o.ID == id {
			return name, true
		}
	}
	return "", false
}

func (e *fakeEngine) Remove(_ context.Context, o hosting.EngineObject) error {
	if err := e.ask(false, "remove", o.Kind+"/"+o.Name); err != nil {
		return err
	}
	if err := e.remove(o); err != nil {
		return err
	}
	return e.ask(true, "remove", o.Kind+"/"+o.Name)
}

func (e *fakeEngine) remove(o hosting.EngineObject) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	name, there := e.numbered(o.Kind, o.ID)
	switch {
	case !there:
		return nil
	case e.strict && name != o.Kind+"/"+o.Name:
		return domain.Fail(domain.Permanent, "drift", fmt.Errorf("%s/%s is %s", o.Kind, o.Name, name))
	}
	delete(e.objects, name)
	e.removed[name]++
	return nil
}

func (e *fakeEngine) List(_ context.Context, kind string, owner int64) (all []hosting.EngineObject, err error) {
	if err := e.ask(false, "list", kind); err != nil {
		return nil, err
	}
	for _, o := range e.all() {
		if o.Kind == kind && o.Owner == owner {
			all = append(all, o)
		}
	}
	return all, nil
}

func (e *fakeEngine) Usage(_ context.Context, owner int64) (hosting.Usage, error) {
	return hosting.Usage{ReadAt: time.Now()}, e.ask(false, "usage", fmt.Sprint(owner))
}

func (e *fakeEngine) creations(name string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.made[name]
}

// forget loses an object that the engine has confirmed.
func (e *fakeEngine) forget(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.objects, name)
}

// wake switches an object on that should be off.
func (e *fakeEngine) wake(name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	o := e.objects[name]
	o.Values = maps.Clone(o.Values)
	o.Values["is_active"] = json.RawMessage("true")
	e.objects[name] = o
}

func (e *fakeEngine) changes(name string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changed[name]
}

func (e *fakeEngine) removals(name string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.removed[name]
}

func (e *fakeEngine) put(name string, o hosting.EngineObject) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	o.ID = e.last
	e.objects[name] = o
}

func (e *fakeEngine) all() map[string]hosting.EngineObject {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := map[string]hosting.EngineObject{}
	for name, o := range e.objects {
		all[name] = o
	}
	return all
}
