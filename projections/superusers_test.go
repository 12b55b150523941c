package projections

import (
	"errors"
	"sync"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/account"
)

func root(id int64, email string) account.Open {
	c := open(id, email)
	c.Superuser = true
	return c
}

func TestTheLastActiveSuperuserStays(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	const stays = "The last active superuser cannot be removed."
	p.do(t, open(9, "nobody@example.com"), account.Deactivate{User: 9, At: noon}) // before there is any
	p.do(t, root(1, "a@example.com"))
	p.refused(t, "", stays, account.Deactivate{User: 1, At: noon})
	p.refused(t, "", stays, account.RevokeSuperuser{User: 1, At: noon})

	p.do(t, root(2, "b@example.com"), account.Deactivate{User: 2, At: noon}) // who cannot sign in does not count
	p.refused(t, "", stays, account.RevokeSuperuser{User: 1, At: noon})
	p.do(t, account.RevokeSuperuser{User: 2, At: noon})

	p.do(t, open(3, "c@example.com"), account.GrantSuperuser{User: 3, At: noon}, account.Deactivate{User: 1, At: noon})
	p.refused(t, "", stays, account.Deactivate{User: 3, At: noon}, account.EraseSubject{At: noon}) // all or nothing
	var refusal *domain.Error
	if err := p.try(t, account.Deactivate{User: 3, At: noon}); !errors.As(err, &refusal) ||
		refusal.Code != domain.Conflict || refusal.Reason != "last_superuser" {
		t.Fatal(err)
	}
	all, err := p.For(System).Accounts().Superusers(t.Context())
	if err != nil || len(all) != 1 || all[0].ID != 3 {
		t.Fatal(all, err)
	}
	if err := All.rebuild(t.Context(), p.owner, p.Reader(), nil); err != nil {
		t.Fatal(err)
	}
	p.refused(t, "", stays, account.RevokeSuperuser{User: 3, At: noon})
}

// Two superusers take the right from each other at the same moment, again and
// again: each time one of them keeps it.
func TestOfTwoWhoDemoteEachOtherOneStays(t *testing.T) {
	t.Parallel()
	p := openPanel(t)
	p.do(t, root(1, "a@example.com"), root(2, "b@example.com"))
	for round := range 50 {
		p.do(t, account.GrantSuperuser{User: 1, At: noon}, account.GrantSuperuser{User: 2, At: noon})
		var both sync.WaitGroup
		refused := make(chan error, 2)
		for user := int64(1); user <= 2; user++ {
			both.Go(func() {
				if err := p.try(t, account.RevokeSuperuser{User: user, At: noon}); err != nil {
					refused <- err
				}
			})
		}
		both.Wait()
		if len(refused) != 1 {
			t.Fatalf("round %d: %d were refused", round, len(refused))
		}
		var refusal *domain.Error
		if err := <-refused; !errors.As(err, &refusal) || refusal.Reason != "last_superuser" {
			t.Fatal(err)
		}
		if all, err := p.For(System).Accounts().Superusers(t.Context()); err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
	}
}
