package projections

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/account"
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
	On(func(at eventstore.RecordedEvent, e order.Placed) Change {
		if e.Domain == "" || e.Plan.ResourceType != "hosting" {
			return Change{}
		}
		return claim(orderHolder(at), "site", "domain", e.Domain, uuid.Nil)
	}).refusing(takenNames()),
	On(func(at eventstore.RecordedEvent, _ order.Cancelled) Change { return holding(orderHolder(at), false) }),
	On(func(at eventstore.RecordedEvent, _ order.Reopened) Change { return holding(orderHolder(at), true) }).refusing(takenNames()),

	// The order's own resource takes over from the order.
	On(func(_ eventstore.RecordedEvent, e hosting.Requested) Change {
		if e.For == "" {
			return Change{}
		}
		return remove("names", Row{{"holder", e.For}, {"kind", e.Kind}})
	}),
	OnEach(func(at eventstore.RecordedEvent, e hosting.Requested) []Change {
		return claims(at, e.Values(), e.SubjectID)
	}).refusing(takenNames()),
	OnEach(func(at eventstore.RecordedEvent, e hosting.Changed) []Change {
		return claims(at, e.Values(), e.SubjectID)
	}).refusing(takenNames()),
	On(func(at eventstore.RecordedEvent, _ hosting.MovedToBin) Change { return binned(at, false) }),
	On(func(at eventstore.RecordedEvent, _ hosting.Restored) Change { return binned(at, true) }).refusing(takenNames()),
	OnEach(func(at eventstore.RecordedEvent, e hosting.Adopted) []Change {
		return claims(at, e.Values(), e.SubjectID)
	}).refusing(takenNames()),
	On(func(at eventstore.RecordedEvent, _ hosting.RemovalRequested) Change {
		return holding(at.Stream.String(), false)
	}),
	On(func(at eventstore.RecordedEvent, _ hosting.Removed) Change {
		return remove("names", Row{{"holder", at.Stream.String()}})
	}),
	On(func(_ eventstore.RecordedEvent, e account.SubjectErased) Change {
		return remove("names", Row{{"subject", e.Subject}}).provided(personalName())
	}),
).Apart("names", "holder")

// claim takes a name, or renames what the holder has.
func claim(holder, kind, field, name string, subject uuid.UUID) Change {
	return upsert("names", Row{{"holder", holder}, {"field", field}},
		Row{{"kind", kind}, {"name", name}, {"subject", domain.OrNull(subject)}, {"held", true}},
		Row{{"name", excluded("name")}, {"held", excluded("held")}})
}

// holding lets a holder keep its names for itself, or lets go of them.
func holding(holder string, held bool) Change {
	return update("names", Row{{"holder", holder}}, Row{{"held", held}})
}

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
		fmt.Fprintf(&sql, "create unique index %s on names (name) where %s;\n", nameIndex(kind, name), heldAs(kind.Name, name))
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

// binned is what becomes of names in the bin: a domain may be used again at
// once. A tenant's login stays that of its client at the engine.
func binned(at eventstore.RecordedEvent, back bool) Change {
	if kind, _ := hosting.KindOf(at.Stream); kind.Owner {
		return Change{}
	}
	return holding(at.Stream.String(), back)
}

func orderHolder(at eventstore.RecordedEvent) string { return "order:" + at.Stream.ID }

// claims are those of the names among the values.
func claims(at eventstore.RecordedEvent, values field.Values, subject uuid.UUID) (all []Change) {
	kind, _ := hosting.KindNamed(at.Stream.Category)
	for _, name := range slices.Sorted(slices.Values(kind.Unique)) {
		var text string
		if raw, given := values[name]; given && json.Unmarshal(raw, &text) == nil {
			all = append(all, claim(at.Stream.String(), kind.Name, name, text, subject))
		}
	}
	return all
}

// heldAs is the condition on names that records of a kind have in a field. The words stand in
// it, as a plan for all kinds could not use the index of one.
func heldAs(kind, field string) string {
	return fmt.Sprintf("kind = '%s' and field = '%s' and held and name <> ''", kind, field)
}

// NameTaken tells whether a name is taken, such as the "domain" of a "site". It
// does not tell by which record.
func (s HostingReader) NameTaken(ctx context.Context, kind, field, name string) (bool, error) {
	return s.nameTaken(ctx, kind, field, name, "")
}

// NameTakenByOthers is NameTaken, but for an order that may hold it itself.
func (s HostingReader) NameTakenByOthers(ctx context.Context, kind, field, name string, order uuid.UUID) (bool, error) {
	return s.nameTaken(ctx, kind, field, name, "order:"+order.String())
}

func (s HostingReader) nameTaken(ctx context.Context, kind, field, name, except string) (taken bool, err error) {
	w := s.caller.public()
	w.conditions = append(w.conditions, heldAs(kind, field))
	w.and("name = ?", name)
	w.and("holder <> ?", except)
	taken, err = value[bool](ctx, s.db, `select exists (select from names`, w, `)`)
	if err != nil {
		err = fmt.Errorf("look for a name: %w", err)
	}
	return taken, err
}

// Domains that tenants claim are looked for from their end, without the final
// dot that zones have: those below a domain begin alike then.
const turnedName = `reverse(rtrim(name, '.'))`

// claimedNames is the condition on names that are such domains.
func claimedNames() string {
	var each []string
	for _, kind := range hosting.Kinds {
		if kind.Claims != "" {
			each = append(each, fmt.Sprintf("kind = '%s' and field = '%s'", kind.Name, kind.Claims))
		}
	}
	return strings.Join(each, " or ")
}

// ClaimedByOthers tells whether another tenant, or an order, holds the domain,
// or one above or below it, in any kind. A tenant's parent and its sub-tenants
// are no others. Tenant 0 has neither. The order may hold it itself. Whether
// the same name is taken in the same kind is left to [ResourceReader.NameTaken].
func (s HostingReader) ClaimedByOthers(ctx context.Context, kind, name string, tenant int64, order uuid.UUID) (bool, error) {
	name = strings.TrimSuffix(name, ".")
	w := s.caller.operators()
	w.conditions = append(w.conditions, `held`, `(`+claimedNames()+`)`, w.with(nearName, upwards(name), name, name))
	w.conditions = append(w.conditions, w.with(`(kind <> ? or `+turnedName+` <> reverse(?))`, kind, name))
	w.and(`holder <> ?`, "order:"+order.String())
	w.args = append(w.args, tenant)
	claimed, err := value[bool](
		ctx, s.db, `with near as materialized (select kind, `+numberOfHolder+` as id from names`, w,
		fmt.Sprintf(ofOthers, len(w.args)),
	)
	if err != nil {
		err = fmt.Errorf("look for claims of a domain: %w", err)
	}
	return claimed, err
}

const (
	// nearName are a name, those above it, and those below it.
	nearName = `(` + turnedName + ` = any(?) or ` + turnedName + ` ~>=~ (reverse(?) || '.') and ` + turnedName + ` ~<~ (reverse(?) || '/'))`

	// numberOfHolder is the number of the record that holds a name; null: an
	// order does.
	numberOfHolder = `case when holder not like 'order:%' then substring(holder from '[0-9]+$')::bigint end`

	// ofOthers tells whether near holds records outside the tenant's family.
	ofOthers = `), family as materialized (
		select $%[1]d::bigint as tenant
		union all select id from resources where kind = 'tenant' and parent = $%[1]d
		union all select parent from resources where kind = 'tenant' and id = $%[1]d and parent is not null
	)
	select exists (select from near where not coalesce(
		(select r.tenant from resources r where r.kind = near.kind and r.id = near.id) = any(array(select tenant from family)), false))`
)

// upwards are the name and all names above it, turned.
func upwards(name string) (turned []string) {
	for rest, more := name, true; more; _, rest, more = strings.Cut(rest, ".") {
		letters := []byte(rest) // ASCII: other scripts are A-labels
		slices.Reverse(letters)
		turned = append(turned, string(letters))
	}
	return turned
}
