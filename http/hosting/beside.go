package hosting

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/record"
	"hostpanel/projections"
)

// beside is what an answer shows of other records.
type beside struct {
	names  map[string]string // what other records call what it refers to
	counts map[string]int64  // of what refers to it
	at     int               // sum of the versions of what it is a part of
	linked bool              // there is what the record leads to
}

// Tag names the version of the record with all that is shown of it: versions
// only grow, and so does their sum. What may be less the next time, such as a
// count or the name of another package, has a place of its own
// (docs/hosting.md, "Versions").
func (w *resource) Tag() string {
	version := w.row.Version + w.seen.at
	if slices.Contains(w.Kind.Shown, "tenant_name") {
		version += w.row.TenantAt
	}
	tag := record.Tag(w.Kind.Name, strconv.FormatInt(w.row.ID, 10), version)
	for _, n := range w.Kind.Counts {
		tag += "." + strconv.FormatInt(w.seen.counts[n.Field], 10)
	}
	if w.seen.linked {
		tag += ".m"
	}
	for _, n := range w.Kind.Names {
		if name, named := w.seen.names[n.Field]; named && !w.Kind.IsPartBy(n.Of) {
			tag += "-" + hashed(name)
		}
	}
	return tag + w.day
}

func hashed(name string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(name)) // never fails
	return fmt.Sprintf("%x", sum.Sum32())
}

// beside reads what the records show of others.
func (k *collection) beside(ctx context.Context, scope projections.Scope, all ...*resource) error {
	for _, w := range all {
		w.seen = beside{names: map[string]string{}, counts: map[string]int64{}}
	}
	for _, n := range k.kind.Names {
		if err := k.name(ctx, scope, n, all); err != nil {
			return err
		}
	}
	for _, n := range k.kind.Counts {
		if err := k.count(ctx, scope, n, all); err != nil {
			return err
		}
	}
	return k.link(ctx, scope.OfProgram(), all)
}

// name reads what the records are called to which the others refer.
func (k *collection) name(ctx context.Context, scope projections.Scope, n hosting.Name, all []*resource) error {
	ids := idsOf(all, func(w *resource) int64 { return hosting.NumberIn(w.Spec, n.Of) })
	if ids == nil {
		return nil
	}
	of := slices.IndexFunc(k.kind.Refs, func(r hosting.Reference) bool { return r.Field == n.Of })
	rows, err := scope.Hosting().Among(ctx, k.kind.Refs[of].Kind, ids)
	if err != nil {
		return err
	}
	named := map[int64]projections.Resource{}
	for _, row := range rows {
		named[row.ID] = row
	}
	for _, w := range all {
		row, found := named[hosting.NumberIn(w.Spec, n.Of)]
		if !found {
			continue
		}
		var name string
		if err := (field.Set{field.Text(n.Shows, &name)}).Load(row.Spec); err != nil {
			return err
		}
		w.seen.names[n.Field] = name
		if k.kind.IsPartBy(n.Of) {
			w.seen.at += row.Version
		}
	}
	return nil
}

// count counts what refers to the records.
func (k *collection) count(ctx context.Context, scope projections.Scope, n hosting.Count, all []*resource) error {
	counts, err := scope.Hosting().ReferringEach(ctx, n.Kind, n.By, idsOf(all, func(w *resource) int64 { return w.row.ID }))
	for _, w := range all {
		w.seen.counts[n.Field] = counts[w.row.ID]
	}
	return err
}

// idsOf are numbers of records, without those that are none.
func idsOf(all []*resource, id func(*resource) int64) (ids []int64) {
	for _, w := range all {
		if n := id(w); n != 0 {
			ids = append(ids, n)
		}
	}
	return ids
}

// link tells which records lead to another one ([hosting.LinkOf]).
func (k *collection) link(ctx context.Context, scope projections.Scope, all []*resource) error {
	leading := map[string][]*resource{}
	var link hosting.Link
	for _, w := range all {
		if to, leads := hosting.LinkOf(w.Spec); leads {
			link, leading[to.Value] = to, append(leading[to.Value], w)
		}
	}
	if len(leading) == 0 {
		return nil
	}
	to, _ := hosting.KindNamed(link.Kind)
	found, err := scope.Hosting().OfKind(ctx, to, projections.Listing{
		Filters: []projections.Filter{{Field: link.Field, Op: "in", Value: slices.Collect(maps.Keys(leading))}}, Limit: int64(len(leading)),
	})
	for _, row := range found.Rows {
		spec := to.New()
		if err := row.Load(spec); err != nil {
			return err
		}
		for _, w := range leading[hosting.TextIn(spec, link.Field)] {
			w.seen.linked = true
		}
	}
	return err
}
