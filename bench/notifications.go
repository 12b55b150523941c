package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// A notificationCount is notifications without a history: so many for each of some users.
type notificationCount struct{ each, users int64 }

func (b notificationCount) String() string {
	if b.users > 1 {
		return fmt.Sprintf("%d in %d", b.each, b.each*b.users)
	}
	return fmt.Sprint(b.each)
}

// others have no accounts: the number of the first but one.
const others = 1_000_000

// writeNotifications writes them into the read table, the newest now, in turn to all of
// the users: the one who reads and others. The older half of what users have
// been told first is read, all at once.
func (p *panel) writeNotifications(ctx context.Context, user int64, b notificationCount) error {
	err := pgx.BeginFunc(ctx, p.owner, func(tx pgx.Tx) error {
		for _, sql := range notificationSQL {
			if _, err := tx.Exec(ctx, sql, user, b.each, b.users); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("deliver notifications: %w", err)
	}
	_, err = p.owner.Exec(ctx, `vacuum analyze notifications, inboxes`)
	return err
}

// notificationSQL is in two parts: what is delivered, and the figures.
var notificationSQL = []string{
	`insert into notifications (id, user_id, notification_type, title, message, url, metadata, unread_since, created_at,
		updated_at, version)
			select gen_random_uuid(), case u when 1 then $1::bigint
				else ` + fmt.Sprint(others) + ` + u end, 'info', 'News', 'Something has happened.', '/', '{}', at, at, at, 1
			from generate_series(1, $2::bigint) n, generate_series(1, $3::bigint) u,
				lateral (select business_now() - ($2::bigint - n) * interval '1 microsecond' as at) moment`,
	`insert into inboxes as i (user_id, total, unread, through, read_at, version)
			select case u when 1 then $1::bigint
				else ` + fmt.Sprint(others) +
		` + u end, $2::bigint, $2::bigint / 2, business_now() - $2::bigint / 2 * interval '1 microsecond', business_now(), 1
			from generate_series(1, $3::bigint) u
			on conflict (user_id) do update set total = i.total + excluded.total, unread = i.unread + excluded.total`,
}

// insertNotice tells one of a few users something, in SQL.
const insertNotice = `\set user random(1, 16)
with raised as (
	insert into notifications (id, user_id, notification_type, title, message, url, metadata, unread_since, created_at, updated_at, version)
	values (gen_random_uuid(), 900 + :user, 'info', 'News', 'Something has happened.', '/', '{}', business_now(),
		business_now(), business_now(), 1))
insert into inboxes as i (user_id, total, unread) values (900 + :user, 1, 1)
on conflict (user_id) do update set total = i.total + 1, unread = i.unread + 1;
`
