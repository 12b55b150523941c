package ispconfig

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"hostpanel/domain"
)

// An alias, a forward and a catch-all are rows of one table with functions of
// their own. The functions that read do not mind which is which.
var aliases = resource{
	kind: "mail_alias", table: "mail_forwarding", lower: true, off: members{{"active", "n"}},
	limits:    []string{"limit_mailalias", "limit_mailforward"},
	key:       "forwarding_id",
	stems:     []string{"mail_alias", "mail_forward", "mail_catchall"},
	functions: func(r row) string { return "mail_" + r["type"] },
	on:        func(s Servers) int64 { return s.Mail }, name: named("source"), addresses: known,
	queries: func(name, _ string, _ Servers) []query {
		if strings.HasPrefix(name, "@") {
			return []query{{"mail_catchall", members{{"source", name}, {"type", "catchall"}}}}
		}
		return []query{
			{"mail_alias", members{{"source", name}, {"type", "alias"}}},
			{"mail_forward", members{{"source", name}, {"type", "forward"}}},
		}
	},
	turns: addressTurns,
	columns: []column{
		given("server_id", func(w *wish) any { return w.server }),
		natural("source"),
		given("destination", func(w *wish) any { return destinations(w) }).from("destination", "destinations").alike(sameDestinations).
			shows("destination", func(r row) any { return strings.Split(r["destination"], ",") }),
		given("type", func(w *wish) any { return aliasType(w) }).shows("alias_type", func(r row) any { return r["type"] }),
		changing(flag("active", "is_active")),
	},
	forms: []form{
		{field: "source", sent: "as the address; `@domain` for everything else", stored: "in lower case"},
		{field: "destination", sent: "parted by commas", stored: "in lower case, answered as one text"},
	},
	replaced: func(w *wish, have row) bool { return aliasType(w) != have["type"] },
}

func init() {
	aliases.habits = habits{prepare: aliasReady}
	register(&aliases)
}

func known(r row) bool {
	return r["type"] == "alias" || r["type"] == "forward" || r["type"] == "catchall"
}

func addressTurns(w *wish) []Turn {
	_, at, _ := strings.Cut(w.Name, "@")
	return []Turn{{Name: "maildomain/" + at, Shared: true}, {Name: "address/" + w.Name}}
}

func aliasReady(ctx context.Context, e *Engine, w *wish) error {
	if destinations(w) == "" {
		return domain.Fail(domain.Permanent, "invalid", errors.New("an alias without a destination"))
	}
	return underMailDomain(ctx, e, w)
}

// aliasType is the panel's word where it has one: only the panel knows whether
// a destination is a mailbox of its own.
func aliasType(w *wish) string {
	switch {
	case strings.HasPrefix(w.Name, "@"):
		return "catchall"
	case w.text("alias_type") == "alias":
		return "alias"
	}
	return "forward"
}

// sameDestinations compares addresses in any order and case.
func sameDestinations(w *wish, have row) bool {
	return slices.Equal(sortedAddresses(have["destination"]), sortedAddresses(destinations(w)))
}

func sortedAddresses(list string) []string {
	all := strings.Split(strings.ToLower(list), ",")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	slices.Sort(all)
	return all
}

// destinations are the addresses, joined as the engine wants them.
func destinations(w *wish) string {
	var list []string
	if json.Unmarshal(w.Values["destinations"], &list) != nil || len(list) == 0 {
		list = strings.Split(w.text("destination"), ",")
	}
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return strings.Join(list, ",")
}
