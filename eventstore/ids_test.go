package eventstore_test

import (
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/eventstoretest"
)

// A kind that a newer program has gets its numbers with the migration, and the
// others keep theirs.
func TestEveryKindOfHostingResourcesHasNumbers(t *testing.T) {
	url := eventstoretest.URL(t)
	owner := eventstoretest.Owner(t, url)
	if err := eventstore.Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	store := eventstore.Open(eventstoretest.Pool(t, url), facts, eventstoretest.Keys(t))
	var kinds []string
	for _, kind := range hosting.Kinds {
		kinds = append(kinds, kind.Name)
	}
	if _, err := store.NextIDs(t.Context(), kinds...); err != nil {
		t.Fatal(err)
	}
	if _, err := owner.Exec(t.Context(), `drop sequence proxy_id`); err != nil {
		t.Fatal(err)
	}
	if err := eventstore.Migrate(t.Context(), owner); err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]int64{"proxy": 1, "site": 2} {
		if ids, err := store.NextIDs(t.Context(), kind); err != nil || ids[0] != want {
			t.Errorf("the next %s is %d, not %d: %v", kind, ids, want, err)
		}
	}
}
