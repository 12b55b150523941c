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

// setsSQL has a unique index for each set of fields that no two resources of a
// kind may have in common, for each flag that only one of them may have, and
// for addresses. A field that was erased is null, so that it reserves no name.
func setsSQL() string {
	var sql strings.Builder
	for _, kind := range hosting.Kinds {
		for i, set := range kind.Sets {
			fmt.Fprintf(&sql, "create unique index %s on resources (%s) where kind = '%s' and present;\n",
				setIndex(kind, i), setHash(set), kind.Name)
		}
		if kind.Single != "" {
			fmt.Fprintf(&sql, "create unique index %s on resources (kind) where kind = '%s' and spec ->> '%s' = 'true' and present;\n",
				singleIndex(kind), kind.Name, kind.Single)
		}
	}
	sql.WriteString(`create unique index resources_address on resources ((spec ->> 'email')) ` +
		`where kind in (` + kindsThat(func(k hosting.Kind) bool { return k.Address != "" }) + `) and present`)
	return sql.String()
}

// setHash is the expression that the index of a set is made of.
func setHash(set []string) string {
	columns := make([]string, len(set))
	for i, name := range set {
		columns[i] = "(spec ->> '" + name + "')"
		if name == "tenant" {
			columns[i] = "tenant::text"
		}
	}
	return "md5(" + strings.Join(columns, " || chr(10) || ") + ")"
}

// SetTaken reports whether another resource of the kind has the same values in
// a set of fields that no two of them may have in common.
func (s ResourceReader) SetTaken(ctx context.Context, kind hosting.Kind, set []string, id, tenant int64, values field.Values) (bool, error) {
	texts := make([]string, len(set))
	for i, name := range set {
		if json.Unmarshal(values[name], &texts[i]) != nil {
			texts[i] = string(values[name]) // a number or boolean
		}
		if name == "tenant" {
			texts[i] = strconv.FormatInt(tenant, 10)
		}
	}
	w := s.public()
	w.conditions = append(w.conditions, "kind = '"+kind.Name+"'", "present")
	w.and(setHash(set)+" = md5(?)", strings.Join(texts, "\n"))
	w.and("id <> ?", id)
	taken, err := value[bool](ctx, s, `select exists (select from resources`, w, `)`)
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

func setIndex(kind hosting.Kind, i int) string {
	return fmt.Sprintf("resources_%s_set%d", kind.Name, i)
}

func singleIndex(kind hosting.Kind) string { return "resources_" + kind.Name + "_single" }

// takenSets are the refusals: "The fields site, name must make a unique set."
// Which of two kinds an address is refused to, the event tells.
func takenSets(at eventstore.RecordedEvent) map[string]error {
	kind, _ := hosting.KindNamed(at.Stream.Category)
	taken := map[string]error{}
	for i, set := range kind.Sets {
		taken[setIndex(kind, i)] = kind.NotUnique(set)
	}
	if kind.Single != "" {
		taken[singleIndex(kind)] = domain.Refuse(domain.Conflict, "Conflict, please retry.")
	}
	if kind.Address != "" {
		taken["resources_address"] = domain.RefuseField(kind.Address, kind.Rival)
	}
	return taken
}

// ofKinds says how the resources of each kind are listed.
var ofKinds = func() map[string]listedBy {
	all := map[string]listedBy{}
	for _, kind := range hosting.Kinds {
		all[kind.Name] = ofKind(kind)
	}
	return all
}()

// ofKind says how the resources of a kind are listed: by the fields that the
// kind names, and whether they are active.
func ofKind(kind hosting.Kind) listedBy {
	fields := with(fieldsOf("r"), "tenant", "r.tenant")
	for _, f := range kind.New().Fields() {
		fields[f.Name] = specColumn(kind, f)
	}
	if kind.CanBeDisabled {
		fields["is_active"] = "r.active"
	}
	return listedBy{
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
// without an active tenant see those of all.
func (s ResourceReader) OfKind(ctx context.Context, kind hosting.Kind, l Listing) (Listed[Resource], error) {
	w := s.tenant("r.tenant")
	w.and("r.kind = ?", kind.Name)
	w.conditions = append(w.conditions, present)
	by := ofKinds[kind.Name]
	if s.caller.Tenant != 0 { // whose they all are
		by.joined, by.joins = itsTenant, []any{s.caller.Tenant}
	}
	return part[Resource](ctx, s, by, w, l)
}
