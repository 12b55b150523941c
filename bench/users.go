package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/credentials"
)

// userCounts are users and their tenants. The first of them read: so many that
// none runs into the limit of calls.
type userCounts struct {
	readers         int
	users           int64  // users, each with a tenant of their own
	tenantsOfReader int64  // tenants of each of those who read
	password        string // of every reader
}

// makeUsers fills the panel with people.
func (p *panel) makeUsers(ctx context.Context, t userCounts) (userCounts, error) {
	t.password = rand.Text()
	hash, err := credentials.Open(p.store.Pool(), p.keys).HashPassword(ctx, t.password)
	if err != nil {
		return t, err
	}
	var n atomic.Int64
	_, err = together(ctx, 16, time.Hour, func(ctx context.Context, _, _ int) error {
		number := n.Add(1)
		if number > t.users {
			return errEnough
		}
		if number > int64(t.readers) {
			return p.makeUser(ctx, number, 1)
		}
		return p.makeUser(ctx, number, t.tenantsOfReader, credentials.PasswordRow(number, hash))
	})
	if err := enough(err); err != nil {
		return t, err
	}
	_, err = p.owner.Exec(ctx, "analyze") // as Postgres does by itself, but not at once
	return t, err
}

// makeUser opens an account and a tenant, and lets the account into so many
// tenants from that one on.
func (p *panel) makeUser(ctx context.Context, n int64, tenants int64, rows ...eventstore.TxStatement) error {
	subject, err := p.store.Subject(ctx, userAddress(n))
	if err != nil {
		return err
	}
	tenant := hosting.Tenant{CustomerNumber: hosting.CustomerNumber(n), Limits: hosting.NoLimits()}
	about := fmt.Sprintf(`{"name":"User %d","email":%q,"slug":"user-%d","username":%q}`, n, userAddress(n), n, tenant.CustomerNumber)
	if _, err := tenant.Fields().DecodeJSON([]byte(about), field.Create); err != nil {
		return err
	}
	at := clock.Now().UTC()
	commands := []domain.Command{
		hosting.Request{Ref: hosting.Ref{Kind: "tenant", ID: n}, Tenant: n, Spec: tenant.Fields().Values(), Subject: subject},
		account.Open{User: n, SubjectID: subject, Email: userAddress(n), Name: "Ana Ruiz", Language: "es", At: at},
	}
	for other := range tenants {
		commands = append(commands, account.GrantMembership{User: n, Tenant: n + other, Role: account.Admin, At: at})
	}
	_, err = p.store.ExecuteWith(ctx, operator, rows, commands...)
	return err
}

func userAddress(n int64) string { return fmt.Sprintf("user%d@bench.example", n) }
