package projections

import "testing"

// A hoster's database belongs to a role that policies bind, and the tables have many rows.
// What such a role may not do shows only then: Postgres refuses to copy them.
func TestAnOwnerWhomPoliciesBindBuildsAThousandOrdersAnew(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.sold(t, 1024)
	var bound bool
	if err := p.owner.QueryRow(t.Context(), `select not rolsuper and not rolbypassrls from pg_roles where rolname = current_user`).
		Scan(&bound); err != nil || !bound {
		t.Fatal("the owner of the test's database is not an ordinary role", err)
	}
	compared, err := All.rebuildWith(t.Context(), p.owner, p.Reader(), Options{Check: true, KeepOld: true})
	if err != nil || compared.Different > 0 {
		t.Errorf("the check: %v %v", compared.Differences, err)
	}
	live := contents(t, p.owner, "orders")
	past := p.lookBack(t, p.now(t))
	if then := p.seen(t, past.Schema)["orders"]; then != p.seen(t, "public")["orders"] {
		t.Error("the view of the past has other orders")
	}
	if err := All.rebuild(t.Context(), p.owner, p.Reader(), nil); err != nil {
		t.Fatal(err)
	}
	if rebuilt := contents(t, p.owner, "orders"); rebuilt != live {
		t.Error("the orders that were built anew differ")
	}
	if err := CheckIsolation(t.Context(), p.readers); err != nil {
		t.Error(err)
	}
	for _, table := range All.walled() { // those of the past too
		if n := p.count(t, `select count(*) from pg_class where relname = $1 and not relforcerowsecurity`, table); n > 0 {
			t.Errorf("%d tables %s do not force their policies on their owner", n, table)
		}
	}
}
