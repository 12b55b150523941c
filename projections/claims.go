package projections

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain/hosting"
)

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
func (s ResourceReader) ClaimedByOthers(ctx context.Context, kind, name string, tenant int64, order uuid.UUID) (bool, error) {
	name = strings.TrimSuffix(name, ".")
	w := s.operators()
	w.conditions = append(w.conditions, `held`, `(`+claimedNames()+`)`, w.with(nearName, upwards(name), name, name))
	w.conditions = append(w.conditions, w.with(`(kind <> ? or `+turnedName+` <> reverse(?))`, kind, name))
	w.and(`holder <> ?`, "order:"+order.String())
	w.args = append(w.args, tenant)
	claimed, err := value[bool](ctx, s, `with near as materialized (select kind, `+numberOfHolder+` as id from names`, w, fmt.Sprintf(ofOthers, len(w.args)))
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
