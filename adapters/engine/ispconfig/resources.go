package ispconfig

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A resource says how one kind of the panel's resources stands at the engine.
type resource struct {
	kind  string
	table string // of the engine, as its jobs name it
	key   string // the column of its number
	on    func(Servers) int64

	functions func(row) string // the stem of its functions, by the row: "mail_alias"
	stems     []string         // all of them
	columns   []column         // what is written; those with a name are read as well
	forms     []form           // fields of the panel whose values are another one's at the engine
	reads     []string         // further columns that are read
	name      func(row) string // the natural key that a row has
	queries   func(name, ref string, s Servers) []query
	turns     func(*wish) []Turn
	serial    bool // a write raises the zone's serial

	replaced  func(w *wish, have row) bool // an update cannot do it: remove, then add
	addresses func(row) bool               // which rows of the table are of the kind; nil: all

	lower    bool              // its names are stored in lower case
	anyName  bool              // its names may have any characters
	parents  map[string]string // columns that name another row, and the panel's field
	remade   bool              // what lacks a part is removed and made again
	silent   bool              // no server acts on its rows
	flag     string            // the flag that switches it; "": active
	reserved reserve           // names of the server itself, whose rows are never removed; nil: none
	needs    bool              // it does not outlast the site that it belongs to
	off      members           // what a row says that is off; nil: it cannot be
	limits   []string          // the client's columns that limit how many it has
	storage  *storage          // where its bytes are told; nil: nowhere
	identity string            // the argument that names a row; "": primary_id

	apart *partHabits // nil: a kind with rows of its own

	habits
}

// A reserve returns the code of the failure for a name that is the server's own; "": it is free.
type reserve func(name string) (code string)

// keep refuses to remove a row with a name of the server itself: with it the engine would
// remove what the server needs.
func (r *resource) keep(have row) error {
	if r.reserved == nil {
		return nil
	}
	if code := r.reserved(r.name(have)); code != "" {
		return domain.Fail(domain.Permanent, code, fmt.Errorf("a %s with a name of the server itself", r.kind))
	}
	return nil
}

// coded is a reserve of the names that is says.
func coded(is func(string) bool, code string) reserve {
	return func(name string) string {
		if is(name) {
			return code
		}
		return ""
	}
}

// partHabits are those of a kind that has no rows of its own: its objects are parts of other rows.
type partHabits struct {
	find   func(ctx context.Context, e *Engine, name string) (hosting.EngineObject, bool, error)
	write  func(context.Context, *Engine, hosting.EngineObject) (int64, error) // makes or changes
	remove func(context.Context, *Engine, hosting.EngineObject) error
}

// habits are what a kind does beyond writing its columns. What is nil is done
// as for every kind.
type habits struct {
	find    func(ctx context.Context, e *Engine, name string) ([]row, error)
	prepare func(context.Context, *Engine, *wish) error                   // look at what it belongs to
	before  func(context.Context, *Engine, *wish) error                   // look once more, right before it is added
	insert  func(context.Context, *Engine, *wish) (int64, error)          // make the row
	made    func(context.Context, *Engine, *wish, int64) error            // what a new row still needs
	adopt   func(context.Context, *Engine, *wish, row) error              // bring what was found to what is wanted
	change  func(context.Context, *Engine, *wish, row, members) error     // write an update
	lacks   func(context.Context, *Engine, row) (bool, error)             // whether a part is missing that its creation makes
	parts   func(context.Context, *Engine, row) (*resource, []row, error) // further rows that its creation makes
	keeps   func(context.Context, *Engine, row) (string, error)           // what a row still owns; "": nothing
	leaving func(context.Context, *Engine, row) error                     // before it is removed
	left    func(context.Context, *Engine, row) error                     // after it has been removed
	remains func(context.Context, *Engine, hosting.EngineObject) error    // of an object that is gone
	remarks func(row, field.Values)                                       // what only the engine knows
	says    func(context.Context, *Engine, row, field.Values) error       // fields as the panel says them
}

// A query is one look-up: the stem of the function and a filter.
type query struct {
	stem   string
	filter members
}

// resources are the kinds, each registered by its own file, and what else the
// engine has rows of.
var resources []*resource

func register(r *resource) {
	resources = append(resources, r)
	kind, _ := hosting.KindNamed(r.kind)
	for _, column := range r.limits {
		clients.columns = append(clients.columns, limit(column, "max_"+kind.Quota, kind.Unset()))
	}
}

func resourceOf(kind string) (*resource, error) {
	i := slices.IndexFunc(resources, func(r *resource) bool { return r.kind == kind })
	if i < 0 {
		return nil, notSupported(kind)
	}
	return resources[i], nil
}

func notSupported(kind string) error {
	return domain.Fail(domain.Permanent, "not_supported", fmt.Errorf("the engine has no %s", kind))
}

// picks are the columns that are read of a row.
func (r *resource) picks() []string {
	columns := append([]string{r.key, "sys_groupid", "server_id"}, r.reads...)
	for _, c := range r.columns {
		if c.secret == nil {
			columns = append(columns, c.name)
		}
	}
	return columns
}

func stem(name string) func(row) string { return func(row) string { return name } }

func named(name string) func(row) string { return func(r row) string { return r[name] } }

// byID is the argument that names a row.
func (r *resource) byID(id any) member { return member{cmp.Or(r.identity, "primary_id"), id} }

// get reads one row by its number.
func (c *connection) get(ctx context.Context, r *resource, id int64) (row, bool, error) {
	if have, is := rehearsalOf(ctx).made(r); is && id == 0 {
		return have, true, nil
	}
	if id < 1 {
		return nil, false, badID(r.kind, id)
	}
	found, err := c.rows(ctx, r.stems[0]+"_get", members{r.byID(id)}, r.picks())
	if err != nil || len(found) == 0 {
		return nil, false, err
	}
	rehearsalOf(ctx).alter(r, found)
	return found[0], true, nil
}

func badID(kind string, id int64) error {
	return domain.Fail(domain.Permanent, "engine_call", fmt.Errorf("%d is no number of a %s", id, kind))
}

// seek makes the look-ups of a kind and returns every row that matches.
func (c *connection) seek(ctx context.Context, r *resource, queries []query) ([]row, error) {
	var all []row
	for _, q := range queries {
		found, err := c.rows(ctx, q.stem+"_get", members{r.byID(q.filter)}, r.picks())
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	rehearsalOf(ctx).alter(r, all)
	return all, nil
}

// owned lists the rows of an owner group.
func (c *connection) owned(ctx context.Context, r *resource, group int64) ([]row, error) {
	if group < 2 {
		return nil, domain.Fail(domain.Permanent, "engine_call", fmt.Errorf("group %d belongs to no tenant", group))
	}
	found, err := c.seek(ctx, r, []query{{r.stems[0], members{{"sys_groupid", group}}}})
	if err != nil || r.addresses == nil {
		return found, err
	}
	var ours []row
	for _, have := range found {
		if r.addresses(have) {
			ours = append(ours, have)
		}
	}
	return ours, nil
}
