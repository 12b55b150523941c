package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"hostpanel/domain/notice"
	"hostpanel/eventstore/clock"
)

const notificationsPath = "/notifications/api/v1/notifications/"

// notices measures what users do with what they were told, where that is a
// little, where it is a million, and where a tenant's users have a million
// together: over real connections, against the same questions by pgbench.
func (r *run) notices(ctx context.Context) error {
	p, err := r.panel(ctx, "bench_notices")
	if err != nil {
		return err
	}
	defer p.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	few, many, unread := int64(1_000), int64(1_000_000), int64(100_000)
	if r.Smoke {
		few, many, unread = 100, 2_000, 1_000
	}
	made, err := p.makeUsers(ctx, userCounts{readers: 3, users: 3, tenantsOfReader: 1})
	if err != nil {
		return err
	}
	address, err := listen(ctx, p.program(false).Server().Handler())
	if err != nil {
		return err
	}
	held, err := signIn(ctx, address, made)
	if err != nil {
		return err
	}
	lists := &reader{run: r, panel: p, section: "notices", address: address, usual: map[string]float64{}}
	for user, b := range []notificationCount{{few, 1}, {few, many / few}, {many, 1}} {
		if err := lists.read(ctx, int64(user+1), b, held[user]); err != nil {
			return err
		}
	}
	if err := lists.markAll(ctx, 1, unread, held[0]); err != nil {
		return err
	}
	return lists.raise(ctx)
}

func noticeReadings(user int64, b notificationCount) []question {
	const (
		columns = `select n.*, i.through, i.read_at from notifications n left join inboxes i using (user_id) where n.user_id = %d`
		order   = ` order by n.created_at desc, n.id desc limit 20`
	)
	page := b.each/40 + 1
	return []question{
		{
			name: "unread_count", path: notificationsPath + "unread_count/",
			sql: fmt.Sprintf(`select unread from inboxes where user_id = %d`, user),
		},
		{
			name: "first page", path: notificationsPath,
			sql: fmt.Sprintf(`select total from inboxes where user_id = %d; `+columns+order, user, user),
		},
		{
			name: "first page of unread ones", path: notificationsPath + "?is_read=false",
			sql: fmt.Sprintf(
				`select unread from inboxes where user_id = %d; `+columns+` and n.read_at is null and n.created_at > i.through`+order,
				user, user,
			),
		},
		{
			name: "page in the middle", path: fmt.Sprintf("%s?page=%d", notificationsPath, page), deep: true,
			sql: fmt.Sprintf(`select total from inboxes where user_id = %d; `+columns+order+` offset %d`, user, user, (page-1)*20),
		},
	}
}

// read lets one user read, after rows have been written.
func (d *reader) read(ctx context.Context, user int64, b notificationCount, held pair) error {
	began := clock.Now()
	if err := d.writeNotifications(ctx, user, b); err != nil {
		return err
	}
	d.report(Result{Section: d.section, Name: b.String() + " written by SQL", Value: clock.Since(began).Seconds(), Unit: "s"})
	return d.ask(ctx, b.String(), noticeReadings(user, b), held)
}

// markAll marks everything as read: little, and a lot. The peer changes every
// row.
func (d *reader) markAll(ctx context.Context, user, lot int64, held pair) error {
	rows, err := d.median(func() (float64, error) {
		return d.timed(ctx, user, lot, func(*caller) error {
			_, err := d.owner.Exec(ctx, `update notifications set read_at = business_now() where user_id = $1 and read_at is null`, user)
			return err
		})
	})
	if err != nil {
		return err
	}
	d.report(Result{Section: d.section, Name: fmt.Sprintf("%d rows marked as read by SQL", lot), Value: rows, Unit: "ms"})
	var usual float64
	for _, unread := range []int64{lot / 100, lot} {
		took, err := d.median(func() (float64, error) {
			return d.timed(ctx, user, unread, func(c *caller) error {
				_, err := c.patch(notificationsPath+"mark_all_read/", held.Access)
				return err
			})
		})
		if err != nil {
			return err
		}
		line := Result{
			Section: d.section, Name: fmt.Sprintf("mark_all_read over %d unread, HTTP", unread), Value: took,
			Unit: "ms", Ratio: took / rows, Peer: "SQL",
		}
		d.report(line)
		if usual > 0 {
			line.Name, line.Ratio, line.Peer, line.Bar, line.AtMost = "the same, against the fewer", took/usual, "fewer", 1.5, true
			d.report(line)
		}
		usual = took
	}
	return nil
}

// timed is how many milliseconds something takes that a user does who has just
// been told so much.
func (d *reader) timed(ctx context.Context, user, unread int64, do func(*caller) error) (float64, error) {
	if err := d.writeNotifications(ctx, user, notificationCount{unread, 1}); err != nil {
		return 0, err
	}
	callers, hangUp, err := callersOf(ctx, d.address, 1)
	if err != nil {
		return 0, err
	}
	defer hangUp()
	began := clock.Now()
	err = do(callers[0])
	return milliseconds(clock.Since(began)), err
}

// raise measures the cost of a notification, and how many of the figures change
// in place.
func (d *reader) raise(ctx context.Context) error {
	const clients = 16
	inserts, err := d.pgbench(ctx, d.url, insertNotice, clients)
	if err != nil {
		return err
	}
	d.report(Result{Section: d.section, Name: "INSERT of one and its figures, 16 clients (pgbench)", Value: inserts, Unit: "/s"})
	raised, err := d.median(func() (float64, error) {
		l, err := together(ctx, clients, d.duration, func(ctx context.Context, client, _ int) error {
			_, err := d.store.Execute(ctx, operator, notice.Raise{
				ID: uuid.New(), InApp: true, User: int64(client + 1),
				Text: notice.Text{Type: notice.Info, Title: "News", Message: "Something has happened.", URL: "/"}, At: clock.Now(),
			})
			return err
		})
		return l.perSecond, err
	})
	if err != nil {
		return err
	}
	d.report(
		Result{
			Section: d.section, Name: "a notification raised, 16 clients", Value: raised, Unit: "/s",
			Ratio: raised / inserts, Peer: "INSERT", Bar: 0.8,
		},
	)
	return nil
}
