package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/eventstore"
)

// names is who holds each name that may exist once in the whole panel: the
// domain of a site, the login of a tenant. An order holds the domain it was
// placed for until its site takes over or the order is cancelled, so that no
// customer pays for a name that another has got (rule T1).
var names = New("names", namesSQL(),
	On(claim, func(at eventstore.RecordedEvent, e order.Placed) []any {
		if e.Domain == "" || e.Plan.ResourceType != "hosting" {
			return nil
		}
		return []any{orderHolder(at), "site", []string{"domain"}, []string{e.Domain}, nil}
	}).refusing(takenNames()),
	On(letGo, func(at eventstore.RecordedEvent, _ order.Cancelled) []any { return []any{orderHolder(at)} }),
	On(`update names set held = true where holder = $1`,
		func(at eventstore.RecordedEvent, _ order.Reopened) []any { return []any{orderHolder(at)} }).refusing(takenNames()),

	// The order's own resource takes over from the order.
	On(`delete from names where holder = $1 and kind = $2`, func(_ eventstore.RecordedEvent, e hosting.Requested) []any {
		if e.For == "" {
			return nil
		}
		return []any{e.For, e.Kind}
	}),
	On(claim, func(at eventstore.RecordedEvent, e hosting.Requested) []any {
		return claims(at, e.Values(), e.SubjectID)
	}).refusing(takenNames()),
	On(claim, func(at eventstore.RecordedEvent, e hosting.Changed) []any {
		return claims(at, e.Values(), e.SubjectID)
	}).refusing(takenNames()),
	On(letGo, func(at eventstore.RecordedEvent, _ hosting.MovedToBin) []any { return freed(at) }),
	On(`update names set held = true where holder = $1`,
		func(at eventstore.RecordedEvent, _ hosting.Restored) []any { return freed(at) }).refusing(takenNames()),
	On(claim, func(at eventstore.RecordedEvent, e hosting.Adopted) []any {
		return claims(at, e.Values(), e.SubjectID)
	}).refusing(takenNames()),
	On(letGo, func(at eventstore.RecordedEvent, _ hosting.RemovalRequested) []any { return []any{at.Stream.String()} }),
	On(`delete from names where holder = $1`,
		func(at eventstore.RecordedEvent, _ hosting.Removed) []any { return []any{at.Stream.String()} }),
	erasing(`delete from names where subject = $1 and field = any (case kind`+personalFields()+` else '{}'::text[] end)`),
)

const (
	claim = `
		insert into names (holder, kind, field, name, subject)
		select $1, $2, field, name, $5::uuid from unnest($3::text[], $4::text[]) as claimed (field, name)
		on conflict (holder, field) do update set name = excluded.name, held = true`
	letGo = `update names set held = false where holder = $1`
)

// namesSQL has one unique index for each field of each kind, because the name
// of the index says which field is refused.
func namesSQL() string {
	var sql strings.Builder
	sql.WriteString(`
	create table names (
		holder  text    not null, -- "site-42", or "order:<uuid>" before that
		kind    text    not null,
		field   text    not null,
		name    text    not null, -- blank: none
		held    boolean not null default true, -- false: free for others, but not forgotten
		subject uuid,             -- of the person whom the name may tell of
		primary key (holder, field)
	);
	create index names_subject on names (subject) where subject is not null;
	create index names_claimed on names (` + turnedName + ` text_pattern_ops) where held and (` + claimedNames() + `);
	`)
	eachUnique(func(kind hosting.Kind, name string) {
		fmt.Fprintf(&sql, "create unique index %s on names (name) where kind = '%s' and field = '%s' and held and name <> '';\n",
			nameIndex(kind, name), kind.Name, name)
	})
	return strings.TrimRight(sql.String(), ";\n")
}

func eachUnique(do func(kind hosting.Kind, name string)) {
	for _, kind := range hosting.Kinds {
		for _, name := range kind.Unique {
			do(kind, name)
		}
	}
}

func nameIndex(kind hosting.Kind, name string) string { return "names_" + kind.Name + "_" + name }

// takenNames are the refusals: "site with this domain already exists."
func takenNames() map[string]error {
	taken := map[string]error{}
	eachUnique(func(kind hosting.Kind, name string) {
		taken[nameIndex(kind, name)] = domain.RefuseField(name, field.AlreadyExists(kind.Label, strings.ReplaceAll(name, "_", " ")))
	})
	return taken
}

// freed is who lets go of its names in the bin: a domain may be used again at
// once. A tenant's login stays that of its client at the engine.
func freed(at eventstore.RecordedEvent) []any {
	if kind, _ := hosting.KindOf(at.Stream); kind.Owner {
		return nil
	}
	return []any{at.Stream.String()}
}

func orderHolder(at eventstore.RecordedEvent) string { return "order:" + at.Stream.ID }

// claims are the arguments for the names among the values; nil if there is none.
func claims(at eventstore.RecordedEvent, values field.Values, subject uuid.UUID) []any {
	kind, _ := hosting.KindNamed(at.Stream.Category)
	held := map[string]string{}
	for _, name := range kind.Unique {
		var text string
		if raw, given := values[name]; given && json.Unmarshal(raw, &text) == nil {
			held[name] = text
		}
	}
	if len(held) == 0 {
		return nil
	}
	fields := slices.Sorted(maps.Keys(held))
	texts := make([]string, len(fields))
	for i, name := range fields {
		texts[i] = held[name]
	}
	return []any{at.Stream.String(), kind.Name, fields, texts, orNull(subject)}
}

// orNull stores the zero value as null.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// NameTaken tells whether a name is taken, such as the "domain" of a "site". It
// does not tell by which record.
func (s ResourceReader) NameTaken(ctx context.Context, kind, field, name string) (bool, error) {
	return s.nameTaken(ctx, kind, field, name, "")
}

// NameTakenByOthers is NameTaken, but for an order that may hold it itself.
func (s ResourceReader) NameTakenByOthers(ctx context.Context, kind, field, name string, order uuid.UUID) (bool, error) {
	return s.nameTaken(ctx, kind, field, name, "order:"+order.String())
}

func (s ResourceReader) nameTaken(ctx context.Context, kind, field, name, except string) (taken bool, err error) {
	w := s.public()
	w.and("kind = ?", kind)
	w.and("field = ?", field)
	w.and("name = ?", name)
	w.and("holder <> ?", except)
	taken, err = value[bool](ctx, s, `select exists (select from names`, w, ` and held)`)
	if err != nil {
		err = fmt.Errorf("look for a name: %w", err)
	}
	return taken, err
}
