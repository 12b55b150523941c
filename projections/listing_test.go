package projections

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/storefront"
)

// walk reads a list page by page like a client.
func walk(t *testing.T, s Scope, l Listing) (all []User) {
	t.Helper()
	for {
		l.Offset = int64(len(all))
		page, err := s.Accounts().Users(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Rows...)
		if int64(len(all)) >= page.Count || len(page.Rows) == 0 {
			if int64(len(all)) != page.Count {
				t.Fatalf("%+v: %d of %d", l, len(all), page.Count)
			}
			return all
		}
	}
}

// walkMarked reads a list as walk does, each page beside the record next to it:
// from the first page on, or from the last one back.
func walkMarked(t *testing.T, s Scope, l Listing, back bool) (all []User) {
	t.Helper()
	l.Mark.Before = back
	if back {
		l.Offset = LastPage
	}
	for {
		page, err := s.Accounts().Users(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		n := int64(len(page.Rows))
		switch {
		case n == 0:
			return all
		case back:
			all = append(slices.Clone(page.Rows), all...)
			l.Offset, l.Mark.ID = page.Count-int64(len(all))-l.Limit, page.Rows[0].ID
		default:
			all = append(all, page.Rows...)
			l.Offset, l.Mark.ID = int64(len(all)), page.Rows[n-1].ID
		}
		if l.Offset < 0 || l.Offset >= page.Count {
			return all
		}
	}
}

// crowd creates accounts with many equal values.
func (p *panel) crowd(t *testing.T, chance *rand.Rand, n int) []User {
	t.Helper()
	for id := range int64(n) {
		c := open(id+1, fmt.Sprintf("user%02d@%s.example.com", id, []string{"alpha", "BETA", "50%_off"}[chance.IntN(3)]))
		c.Name, c.Language = []string{"Ana", "Eva Ñandú", `back\slash`, ""}[chance.IntN(4)], []string{"es", "en"}[chance.IntN(2)]
		p.do(t, c)
		if chance.IntN(2) == 0 {
			p.do(t, account.GrantMembership{User: id + 1, Tenant: 1 + chance.Int64N(3), Role: account.Member, At: noon})
		}
		if chance.IntN(3) == 0 {
			p.do(t, account.Deactivate{User: id + 1, At: noon})
		}
	}
	all, err := list[User](t.Context(), p.For(System).db, `select `+userColumns+fromUsers, p.For(System).caller.public(), "")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A query is one query of a client, with its expected result.
type query struct {
	Listing
	keeps   []func(User) bool
	compare func(a, b User) int
}

func anyQuery(chance *rand.Rand, all []User) query {
	w := query{compare: func(a, b User) int { return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID)) }}
	w.Limit = 1 + chance.Int64N(12)
	keep := func(name, op string, value any, keeps func(User) bool) {
		w.Filters = append(w.Filters, Filter{name, op, value})
		w.keeps = append(w.keeps, keeps)
	}
	if chance.IntN(3) == 0 {
		active := chance.IntN(2) == 0
		keep("is_active", "=", active, func(u User) bool { return u.IsActive == active })
	}
	if chance.IntN(3) == 0 {
		keep("active_tenant", "=", nil, func(u User) bool { return u.ActiveTenant == nil })
	}
	if chance.IntN(3) == 0 {
		ids := []int64{1, 3, 5, 7, 11, 13, 17}
		keep("id", "in", ids, func(u User) bool { return slices.Contains(ids, u.ID) })
	}
	if chance.IntN(3) == 0 {
		at := all[chance.IntN(len(all))].CreatedAt
		op, holds := anyComparison(chance)
		keep("created_at", op, at, func(u User) bool { return holds(u.CreatedAt.Compare(at)) })
	}
	for range chance.IntN(3) {
		term := []string{"beta", "ANA", "ñAND", "%", "_", `\`, "user1", "example"}[chance.IntN(8)]
		w.Search = append(w.Search, term)
		w.keeps = append(w.keeps, func(u User) bool {
			return strings.Contains(strings.ToLower(u.Email), strings.ToLower(term)) || strings.Contains(
				strings.ToLower(u.Name), strings.ToLower(term),
			)
		})
	}
	anyOrder(chance, &w)
	return w
}

func anyComparison(chance *rand.Rand) (string, func(int) bool) {
	switch chance.IntN(5) {
	case 0:
		return "=", func(c int) bool { return c == 0 }
	case 1:
		return ">=", func(c int) bool { return c >= 0 }
	case 2:
		return "<=", func(c int) bool { return c <= 0 }
	case 3:
		return ">", func(c int) bool { return c > 0 }
	}
	return "<", func(c int) bool { return c < 0 }
}

// anyOrder orders by fields with many equal values, so that only the id makes the
// order total.
func anyOrder(chance *rand.Rand, w *query) {
	fields := map[string]func(a, b User) int{
		"language":     func(a, b User) int { return cmp.Compare(a.Language, b.Language) },
		"is_active":    func(a, b User) int { return boolCompare(a.IsActive, b.IsActive) },
		"is_superuser": func(a, b User) int { return boolCompare(a.IsSuperuser, b.IsSuperuser) },
		"created_at":   func(a, b User) int { return a.CreatedAt.Compare(b.CreatedAt) },
		"id":           func(a, b User) int { return cmp.Compare(a.ID, b.ID) },
	}
	var by []func(a, b User) int
	last := 1
	for range chance.IntN(4) {
		name := []string{"language", "is_active", "is_superuser", "created_at", "id", "shoe_size"}[chance.IntN(6)]
		o := Ordering{Field: name, Descending: chance.IntN(2) == 0}
		w.Order = append(w.Order, o)
		compare, known := fields[name]
		if !known {
			continue
		}
		way := 1
		if o.Descending {
			way = -1
		}
		last = way
		by = append(by, func(a, b User) int { return way * compare(a, b) })
	}
	if by == nil {
		return
	}
	by = append(by, func(a, b User) int { return last * cmp.Compare(a.ID, b.ID) })
	w.compare = func(a, b User) int {
		for _, compare := range by {
			if c := compare(a, b); c != 0 {
				return c
			}
		}
		return 0
	}
}

func boolCompare(a, b bool) int {
	number := map[bool]int{true: 1}
	return number[a] - number[b]
}

// The pages of a list hold every matching record once, in order, for any filter,
// order and page size.
func TestPagesHoldEveryRecordOnce(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	chance := seeded(t)
	all := p.crowd(t, chance, 60)
	s := p.For(Caller{User: 99, Superuser: true})
	for range 60 {
		w := anyQuery(chance, all)
		var want []int64
		for _, u := range slices.SortedFunc(slices.Values(all), w.compare) {
			if !slices.ContainsFunc(w.keeps, func(keeps func(User) bool) bool { return !keeps(u) }) {
				want = append(want, u.ID)
			}
		}
		for _, walked := range [][]User{walk(t, s, w.Listing), walkMarked(t, s, w.Listing, false), walkMarked(t, s, w.Listing, true)} {
			var got []int64
			for _, u := range walked {
				got = append(got, u.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v\n got %v\nwant %v", w.Listing, got, want)
			}
		}
		w.Offset = LastPage
		last, err := s.Accounts().Users(t.Context(), w.Listing)
		if err != nil || len(want) > 0 && last.Rows[len(last.Rows)-1].ID != want[len(want)-1] ||
			len(want) > 0 && int64(len(last.Rows)) != (int64(len(want))-1)%w.Limit+1 {
			t.Errorf("the last page of %+v: %v %v", w.Listing, last, err)
		}
	}
}

// A page beside a record goes on from there while others come before it. It is read by
// its number once the list does not hold the record any more.
func TestAPageBesideARecordGoesOnFromThere(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	for id := range int64(9) {
		p.do(t, open(id+1, fmt.Sprintf("user%d@example.com", id+1)))
	}
	s := p.For(System)
	reads := func(l Listing, want ...int64) {
		t.Helper()
		l.Limit = 2
		page, err := s.Accounts().Users(t.Context(), l)
		var got []int64
		for _, u := range page.Rows {
			got = append(got, u.ID)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v: %v %v, want %v", l, got, err, want)
		}
	}
	reads(Listing{Offset: 2, Mark: Mark{ID: int64(8)}}, 7, 6)
	p.do(t, open(10, "user10@example.com"))
	reads(Listing{Offset: 2, Mark: Mark{ID: int64(8)}}, 7, 6)
	reads(Listing{Offset: 2, Mark: Mark{ID: int64(7), Before: true}}, 9, 8)
	reads(Listing{Offset: 2, Mark: Mark{ID: int64(77)}}, 8, 7)
	reads(Listing{Offset: 2, Mark: Mark{ID: int64(1)}}, 8, 7)
	reads(Listing{Offset: 2, Mark: Mark{ID: int64(10), Before: true}}, 8, 7)
	reads(Listing{Offset: 2, Mark: Mark{ID: int64(5)}, Order: []Ordering{{Field: "email"}}}, 2, 3) // no index, no mark
}

func TestAListCannotBeNarrowedByWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	for _, f := range []Filter{{"shoe_size", "=", 42}, {"id", "~", 1}, {"has_password", "=", true}} {
		if all, err := p.For(System).Accounts().Users(t.Context(), Listing{Filters: []Filter{f}}); err == nil {
			t.Errorf("%+v: a filter that is left out shows too much: %v", f, all)
		}
	}
}

func TestListsAreForOperators(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, open(1, "ana@example.com"))
	for _, c := range []Caller{{}, {User: 1}, {User: 1, Tenant: 1}, {KeyOwner: 1}} {
		if all, err := p.For(c).Accounts().Users(t.Context(), Listing{}); err != nil || all.Count != 0 || len(all.Rows) != 0 {
			t.Errorf("%+v: %v %v", c, all, err)
		}
	}
}

// Every list can be ordered by each of its fields.
func TestEveryListOrdersByEveryFieldOfItsOwn(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, open(1, "ana@example.com"), tenant(5, "Five", "five"), offer(1, "hosting", "Basic", "3"), issue("ab12CD34"))
	p.do(t, form(1, "aaaaaaaaaaaaaaaa", storefront.Widget{}))
	s := p.For(Caller{User: 9, Superuser: true})
	for _, l := range []struct {
		by   listRules
		read func(Listing) (int64, int, error)
	}{
		{usersBy, counted(t, s.Accounts().Users)},
		{plansBy, counted(t, s.Orders().AllPlans)},
		{widgetsBy, counted(t, s.Orders().Widgets)},
		{keysBy, counted(t, s.Orders().APIKeys)},
		{tenantsBy, counted(t, s.Hosting().Tenants)},
	} {
		for name := range l.by.fields {
			for _, way := range []bool{false, true} {
				n, rows, err := l.read(
					Listing{
						Order: []Ordering{{name, way}}, Search: []string{"A"},
						Filters: []Filter{{"created_at", "<=", time.Now().Add(time.Hour)}},
					},
				)
				if err != nil || n != int64(rows) || n > 1 {
					t.Errorf("%s by %s: %d %d %v", l.by.from, name, n, rows, err)
				}
			}
		}
		if n, rows, err := l.read(Listing{}); n != 1 || rows != 1 || err != nil {
			t.Errorf("%s: %d %d %v", l.by.from, n, rows, err)
		}
		if n, rows, err := l.read(Listing{Search: []string{"no such text"}}); n != 0 || rows != 0 || err != nil {
			t.Errorf("%s: %d %d %v", l.by.from, n, rows, err)
		}
	}
}

func counted[T any](t *testing.T, read func(context.Context, Listing) (Listed[T], error)) func(Listing) (int64, int, error) {
	return func(l Listing) (int64, int, error) {
		all, err := read(t.Context(), l)
		return all.Count, len(all.Rows), err
	}
}
