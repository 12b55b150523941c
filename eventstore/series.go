package eventstore

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"hostpanel/domain"
)

func (a *appendRequest) numbered() bool {
	for _, r := range a.facts {
		if _, ok := r.Event.(domain.Numbered); ok {
			return true
		}
	}
	return false
}

// number gives each numbered event its number.
func (n *encoder) number(a *appendRequest, draw func(series string) (int64, error)) error {
	for i, r := range a.facts {
		numbered, ok := r.Event.(domain.Numbered)
		if !ok {
			continue
		}
		number, err := draw(numbered.Series())
		if err != nil {
			return fmt.Errorf("draw a number: %w", err)
		}
		a.facts[i].Event = numbered.WithNumber(number)
		if a.drafts[i], err = n.draft(a.facts[i]); err != nil {
			return err
		}
	}
	return n.encode(a)
}

// commitNumbered draws the numbers first, which costs round trips of its own.
func (c *committer) commitNumbered(ctx context.Context, conn *pgxpool.Conn, group []*groupMember) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		draw := func(series string) (number int64, err error) {
			err = tx.QueryRow(ctx, `
				insert into series as s (name, last) values ($1, 1)
				on conflict (name) do update set last = s.last + 1 returning last`, series).Scan(&number)
			return number, err
		}
		for _, p := range group {
			if !p.numbered() {
				continue
			}
			if err := c.encoder.number(&p.appendRequest, draw); err != nil {
				return err
			}
		}
		return c.sendLocked(ctx, tx, group)
	})
}
