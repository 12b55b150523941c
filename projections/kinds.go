package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

// What the kinds of hosting resources say of themselves, in SQL.

// alikeSQL are generated columns for what no two resources of a kind may have in common: its
// sets of fields, the flag that only one has, and its address. Row-level security lets no
// expression find its rows by an index. An erased field makes null, and reserves no name.
func alikeSQL() string {
	var sql strings.Builder
	for i := range mostSets {
		set := ofEachKind("null", func(k hosting.Kind) string {
			if i < len(k.Sets) {
				return setText(k.Sets[i])
			}
			return ""
		})
		fmt.Fprintf(&sql, "%s uuid generated always as (md5(%s)::uuid) stored,\n\t\t", setName(i), set)
	}
	fmt.Fprintf(&sql, "single boolean generated always as (%s) stored,\n\t\t", ofEachKind("false", func(k hosting.Kind) string {
		if k.Single != "" {
			return "spec ->> '" + k.Single + "' = 'true'"
		}
		return ""
	}))
	fmt.Fprintf(&sql, "address text generated always as (%s) stored,", ofEachKind("null", func(k hosting.Kind) string {
		if k.Address != "" {
			return "spec ->> 'email'"
		}
		return ""
	}))
	return sql.String()
}

// ofEachKind is an expression that depends on the kind of a resource: where it is blank, the
// value is that of the other kinds.
func ofEachKind(others string, expression func(hosting.Kind) string) string {
	sql := "case kind"
	for _, kind := range hosting.Kinds {
		if then := expression(kind); then != "" {
			sql += " when '" + kind.Name + "' then " + then
		}
	}
	return sql + " else " + others + " end"
}

// setsSQL has the unique indexes of these columns.
func setsSQL() string {
	var sql strings.Builder
	for i := range mostSets {
		fmt.Fprintf(
			&sql, "create unique index %s on resources (kind, %s) where present and %s is not null;\n\t", setIndex(i),
			setName(i), setName(i),
		)
	}
	return sql.String() + "create unique index " + singleIndex + ` on resources (kind) where single and present;
	create unique index ` + addressIndex + ` on resources (address) where present and address is not null`
}

// mostSets is how many sets a kind has at most.
var mostSets = func() (most int) {
	for _, kind := range hosting.Kinds {
		most = max(most, len(kind.Sets))
	}
	return most
}()

const singleIndex, addressIndex = "resources_single", "resources_address"

func setName(i int) string  { return fmt.Sprintf("set_%d", i+1) }
func setIndex(i int) string { return "resources_" + setName(i) }

// setText are the values of a set, line by line.
func setText(set []string) string {
	columns := make([]string, len(set))
	for i, name := range set {
		columns[i] = "(spec ->> '" + name + "')"
		if name == "tenant" {
			columns[i] = "tenant::text"
		}
	}
	return strings.Join(columns, " || chr(10) || ")
}

// SetTaken reports whether another resource of the kind has the same values in one of
// kind.Sets.
func (s HostingReader) SetTaken(ctx context.Context, kind hosting.Kind, set int, id, tenant int64, values field.Values) (bool, error) {
	texts := make([]string, len(kind.Sets[set]))
	for i, name := range kind.Sets[set] {
		if json.Unmarshal(values[name], &texts[i]) != nil {
			texts[i] = string(values[name]) // a number or boolean
		}
		if name == "tenant" {
			texts[i] = strconv.FormatInt(tenant, 10)
		}
	}
	w := s.caller.public()
	w.conditions = append(w.conditions, "kind = '"+kind.Name+"'", "present")
	w.and(setName(set)+" = md5(?)::uuid", strings.Join(texts, "\n"))
	w.and("id <> ?", id)
	taken, err := value[bool](ctx, s.db, `select exists (select from resources`, w, `)`)
	if err != nil {
		err = fmt.Errorf("look for a %s with the same values: %w", kind.Label, err)
	}
	return taken, err
}

// kindsThat are the names of the kinds for which a condition holds, as a list in SQL.
func kindsThat(hold func(hosting.Kind) bool) string {
	var names []string
	for _, kind := range hosting.Kinds {
		if hold(kind) {
			names = append(names, "'"+kind.Name+"'")
		}
	}
	return strings.Join(names, ", ")
}

// takenSets are the refusals: "The fields site, name must make a unique set."
// Which of two kinds an address is refused to, the event tells.
func takenSets(at eventstore.RecordedEvent) map[string]error {
	kind, _ := hosting.KindNamed(at.Stream.Category)
	taken := map[string]error{}
	for i, set := range kind.Sets {
		taken[setIndex(i)] = kind.NotUnique(set)
	}
	if kind.Single != "" {
		taken[singleIndex] = domain.Refuse(domain.Conflict, "Conflict, please retry.")
	}
	if kind.Address != "" {
		taken[addressIndex] = domain.RefuseField(kind.Address, kind.Rival)
	}
	return taken
}

// ofKinds says how the resources of each kind are listed.
var ofKinds = func() map[string]listRules {
	all := map[string]listRules{}
	for _, kind := range hosting.Kinds {
		all[kind.Name] = ofKind(kind)
	}
	return all
}()

// ofKind says how the resources of a kind are listed: by the fields that the
// kind names, and whether they are active.
func ofKind(kind hosting.Kind) listRules {
	fields := with(fieldsOf("r"), "tenant", "r.tenant")
	for _, f := range kind.New().Fields() {
		fields[f.Name] = specColumn(kind, f)
	}
	if kind.CanBeDisabled {
		fields["is_active"] = "r.active"
	}
	return listRules{
		columns: resourceColumns, from: "resources r", joined: namedTenant, id: "r.id", key: "kind, id", search: `r.search`, fields: fields,
	}
}

// specColumn is a field of the spec with its type: a column of its own where
// resources are looked for by it.
func specColumn(kind hosting.Kind, f field.Field) string {
	switch {
	case f.Name == kind.Called:
		return "r.called"
	case slices.ContainsFunc(kind.Refs, func(r hosting.Reference) bool { return r.Field == f.Name }):
		return "r." + f.Name
	}
	column := "(r.spec ->> '" + f.Name + "')"
	switch f.Value().(type) {
	case bool:
		return column + "::boolean"
	case int64, *int64:
		return column + "::bigint"
	case time.Time, *time.Time:
		return column + "::timestamptz"
	}
	return column
}

// OfKind lists the resources of a kind that the caller's tenant has; operators
// without an active tenant see those of all. One whose removal the engine has refused is
// listed until it is gone.
func (s HostingReader) OfKind(ctx context.Context, kind hosting.Kind, l Listing) (Listed[Resource], error) {
	w := s.caller.tenant("r.tenant")
	w.and("r.kind = ?", kind.Name)
	w.conditions = append(w.conditions, "r.listed")
	by := ofKinds[kind.Name]
	if s.caller.Tenant != 0 { // whose they all are
		by.joined, by.joins = itsTenant, []any{s.caller.Tenant}
	}
	return part[Resource](ctx, s.db, by, w, l)
}
