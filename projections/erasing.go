package projections

import (
	"fmt"
	"strings"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

// erasing is what a table forgets of the person whose subject it is: as much
// as a rebuild would no longer find, once the keys are gone (docs/log.md,
// "Personal data"). Invoices are kept as long as the law demands.
func erasing(table string, set Row) Handler {
	return On(func(_ eventstore.RecordedEvent, e account.SubjectErased) Change {
		return update(table, Row{{"subject", e.Subject}}, set)
	})
}

// withoutPersonal is a spec without the personal fields of its kind.
func withoutPersonal() Expr {
	spec := keep
	for _, kind := range hosting.Kinds {
		if len(kind.Personal) > 0 {
			spec = either(is(col("kind"), word(kind.Name)), without(kind.Personal...), spec)
		}
	}
	return spec
}

// personalName is the condition on names that are a personal field.
func personalName() Expr {
	condition := no
	for _, kind := range hosting.Kinds {
		if len(kind.Personal) > 0 {
			condition = or(condition, and(is(col("kind"), word(kind.Name)), among(col("field"), kind.Personal...)))
		}
	}
	return condition
}

// personalFields are the branches of a case over kinds of resources: the names
// of their personal fields.
func personalFields() string {
	var branches strings.Builder
	for _, kind := range hosting.Kinds {
		if len(kind.Personal) > 0 {
			fmt.Fprintf(&branches, " when '%s' then '{%s}'::text[]", kind.Name, strings.Join(kind.Personal, ","))
		}
	}
	return branches.String()
}
