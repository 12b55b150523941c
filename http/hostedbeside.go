package http

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// beside is what an answer shows of other records.
type beside struct {
	names  map[string]string // what other records call what it refers to
	counts map[string]int64  // of what refers to it
	at     int               // sum of the versions of what it is a part of
	boxed  bool              // the only destination of an alias is a mailbox of the panel
}

// tag names the version of the record with all that is shown of it: versions
// only grow, and so does their sum. What may be less the next time, such as a
// count or the name of another package, has a place of its own
// (docs/hosting.md, "Versions").
func (w *wish) tag() string {
	version := w.row.Version + w.seen.at
	if slices.Contains(w.kind.Shown, "tenant_name") {
		version += w.row.TenantAt
	}
	tag := tagOf(w.kind.Name, strconv.FormatInt(w.row.ID, 10), version)
	for _, n := range w.kind.Counts {
		tag += "." + strconv.FormatInt(w.seen.counts[n.Field], 10)
	}
	if w.seen.boxed {
		tag += ".m"
	}
	for _, n := range w.kind.Names {
		if name, named := w.seen.names[n.Field]; named && !w.kind.IsPartBy(n.Of) {
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
func (k *collection) beside(ctx context.Context, scope projections.Scope, all ...*wish) error {
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
	return k.box(ctx, all)
}

// name reads what the records are called to which the others refer.
func (k *collection) name(ctx context.Context, scope projections.Scope, n hosting.Name, all []*wish) error {
	ids := idsOf(all, func(w *wish) int64 { return numberIn(w.spec, n.Of) })
	if ids == nil {
		return nil
	}
	of := slices.IndexFunc(k.kind.Refs, func(r hosting.Reference) bool { return r.Field == n.Of })
	rows, err := scope.Among(ctx, k.kind.Refs[of].Kind, ids)
	if err != nil {
		return err
	}
	named := map[int64]projections.Resource{}
	for _, row := range rows {
		named[row.ID] = row
	}
	for _, w := range all {
		row, found := named[numberIn(w.spec, n.Of)]
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
func (k *collection) count(ctx context.Context, scope projections.Scope, n hosting.Count, all []*wish) error {
	counts, err := scope.ReferringEach(ctx, n.Kind, n.By, idsOf(all, func(w *wish) int64 { return w.row.ID }))
	for _, w := range all {
		w.seen.counts[n.Field] = counts[w.row.ID]
	}
	return err
}

// idsOf are numbers of records, without those that are none.
func idsOf(all []*wish, id func(*wish) int64) (ids []int64) {
	for _, w := range all {
		if n := id(w); n != 0 {
			ids = append(ids, n)
		}
	}
	return ids
}

// box tells which aliases lead to a mailbox of the panel.
func (k *collection) box(ctx context.Context, all []*wish) error {
	leads := map[string][]*wish{}
	for _, w := range all {
		if alias, is := w.spec.(*hosting.MailAlias); is && len(alias.Destinations) == 1 {
			to := strings.ToLower(alias.Destinations[0])
			leads[to] = append(leads[to], w)
		}
	}
	if len(leads) == 0 {
		return nil
	}
	mailbox, _ := hosting.KindNamed("mailbox")
	found, err := k.system().OfKind(ctx, mailbox, projections.Listing{
		Filters: []projections.Filter{{Field: "email", Op: "in", Value: slices.Collect(maps.Keys(leads))}}, Limit: int64(len(leads)),
	})
	for _, row := range found.Rows {
		var box hosting.Mailbox
		if err := row.Load(&box); err != nil {
			return err
		}
		for _, w := range leads[box.Email] {
			w.seen.boxed = true
		}
	}
	return err
}
