package sagastest

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

// An Engine counts what it makes and lies on order.
type Engine struct {
	Lies
	Mu      sync.Mutex
	Objects map[string]hosting.EngineObject
	made    map[string]int
	removed map[string]int
	Changed map[string]int
	last    int64
	Applied func(hosting.EngineObject) bool
	Hidden  func(name string) bool          // it is not shown
	Refused func(hosting.EngineObject) bool // accepted, and then not carried out
	Strict  bool                            // what has another name than the one that is told is neither renamed nor removed
}

// NewEngine is empty.
func NewEngine() *Engine {
	return &Engine{Objects: map[string]hosting.EngineObject{}, made: map[string]int{}, removed: map[string]int{}, Changed: map[string]int{}}
}

func (*Engine) Server() string { return "one" }

// Find finds an object by its name.
func (e *Engine) Find(ctx context.Context, kind, name, _ string) (hosting.EngineObject, bool, error) {
	if err := e.ask(ctx, false, "find", kind+"/"+name); err != nil {
		return hosting.EngineObject{}, false, err
	}
	e.Mu.Lock()
	defer e.Mu.Unlock()
	o, ok := e.Objects[kind+"/"+name]
	if e.Hidden != nil && e.Hidden(kind+"/"+name) {
		return hosting.EngineObject{}, false, nil
	}
	o.Refused = ok && e.Refused != nil && e.Refused(o)
	o.Applied = ok && !o.Refused && (e.Applied == nil || e.Applied(o))
	return o, ok, nil
}

// Create makes an object.
func (e *Engine) Create(ctx context.Context, o hosting.EngineObject) (int64, error) {
	name := o.Kind + "/" + o.Name
	if err := e.ask(ctx, false, "create", name); err != nil {
		return 0, err
	}
	id, err := e.create(name, o)
	if err == nil {
		err = e.ask(ctx, true, "create", name)
	}
	return id, err
}

func (e *Engine) create(name string, o hosting.EngineObject) (int64, error) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	if _, taken := e.Objects[name]; taken {
		return 0, domain.Fail(domain.Permanent, "name_taken", fmt.Errorf("%s exists", name))
	}
	if err := e.belongs(o); err != nil {
		return 0, err
	}
	e.last++
	o.ID = e.last
	e.Objects[name] = o
	e.made[name]++
	return o.ID, nil
}

// belongs refuses an object whose client, or what it is a part of, is not there.
func (e *Engine) belongs(o hosting.EngineObject) error {
	there := map[int64]bool{}
	for _, other := range e.Objects {
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

// Change changes an object.
func (e *Engine) Change(ctx context.Context, o hosting.EngineObject) error {
	name := o.Kind + "/" + o.Name
	if err := e.ask(ctx, false, "change", name); err != nil {
		return err
	}
	if err := e.change(name, o); err != nil {
		return err
	}
	return e.ask(ctx, true, "change", name)
}

func (e *Engine) change(name string, o hosting.EngineObject) error {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	before, there := e.numbered(o.Kind, o.ID)
	if !there {
		return domain.Fail(domain.Permanent, "absent", fmt.Errorf("%s is not there", name))
	}
	if e.Strict && before != name && before != o.Kind+"/"+o.Former {
		return domain.Fail(domain.Permanent, "drift", fmt.Errorf("%s is %s", name, before))
	}
	if other, taken := e.Objects[name]; taken && other.ID != o.ID {
		return domain.Fail(domain.Permanent, "name_taken", fmt.Errorf("%s exists", name))
	}
	delete(e.Objects, before)
	e.Objects[name] = o
	e.Changed[name]++
	e.follow(before, name)
	return nil
}

// follow renames the certificate of a site with it, as engines do.
func (e *Engine) follow(before, after string) {
	was, isSite := strings.CutPrefix(before, "site/")
	certificate, has := e.Objects["ssl_certificate"+"/"+was]
	if !isSite || !has || before == after {
		return
	}
	certificate.Name = strings.TrimPrefix(after, "site/")
	delete(e.Objects, "ssl_certificate"+"/"+was)
	e.Objects["ssl_certificate"+"/"+certificate.Name] = certificate
}

// numbered is the name of an object with this number.
func (e *Engine) numbered(kind string, id int64) (string, bool) {
	for name, o := range e.Objects {
		if o.Kind == kind && o.ID == id {
			return name, true
		}
	}
	return "", false
}

// Remove removes an object.
func (e *Engine) Remove(ctx context.Context, o hosting.EngineObject) error {
	if err := e.ask(ctx, false, "remove", o.Kind+"/"+o.Name); err != nil {
		return err
	}
	if err := e.remove(o); err != nil {
		return err
	}
	return e.ask(ctx, true, "remove", o.Kind+"/"+o.Name)
}

func (e *Engine) remove(o hosting.EngineObject) error {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	name, there := e.numbered(o.Kind, o.ID)
	switch {
	case !there:
		return nil
	case e.Strict && name != o.Kind+"/"+o.Name:
		return domain.Fail(domain.Permanent, "drift", fmt.Errorf("%s/%s is %s", o.Kind, o.Name, name))
	}
	delete(e.Objects, name)
	e.removed[name]++
	return nil
}

// List returns the objects of a client.
func (e *Engine) List(ctx context.Context, kind string, owner int64) (all []hosting.EngineObject, err error) {
	if err := e.ask(ctx, false, "list", kind); err != nil {
		return nil, err
	}
	for _, o := range e.All() {
		if o.Kind == kind && o.Owner == owner {
			all = append(all, o)
		}
	}
	return all, nil
}

// Usage is what a client uses: nothing.
func (e *Engine) Usage(ctx context.Context, owner int64) (hosting.Usage, error) {
	return hosting.Usage{ReadAt: time.Now()}, e.ask(ctx, false, "usage", fmt.Sprint(owner))
}

// Creations is how often an object was made.
func (e *Engine) Creations(name string) int {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	return e.made[name]
}

// Forget loses an object that the engine has confirmed.
func (e *Engine) Forget(name string) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	delete(e.Objects, name)
}

// Wake switches an object on that should be off.
func (e *Engine) Wake(name string) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	o := e.Objects[name]
	o.Values = maps.Clone(o.Values)
	o.Values["is_active"] = json.RawMessage("true")
	e.Objects[name] = o
}

// Changes is how often an object was changed.
func (e *Engine) Changes(name string) int {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	return e.Changed[name]
}

// Removals is how often an object was removed.
func (e *Engine) Removals(name string) int {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	return e.removed[name]
}

// Put adds an object that the panel has not made.
func (e *Engine) Put(name string, o hosting.EngineObject) {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	e.last++
	o.ID = e.last
	e.Objects[name] = o
}

// All are the objects by kind and name.
func (e *Engine) All() map[string]hosting.EngineObject {
	e.Mu.Lock()
	defer e.Mu.Unlock()
	all := map[string]hosting.EngineObject{}
	for name, o := range e.Objects {
		all[name] = o
	}
	return all
}
