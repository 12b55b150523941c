package projections

import (
	"fmt"
	"strings"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
)

// erasing is what a table forgets of the person whose subject is $1: as much
// as a rebuild would no longer find, once the keys are gone (docs/log.md,
// "Personal data"). Invoices are kept as long as the law demands.
func erasing(sql string) Handler {
	return On(sql, func(_ eventstore.RecordedEvent, e account.SubjectErased) []any { return []any{e.Subject} })
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
