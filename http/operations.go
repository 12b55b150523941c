package http

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const operationsPrefix = "/operations/api/v1/"

// operations is what those who operate the installation do with it
// (docs/api.md, "Operations").
func (s *Server) operations() route.Area {
	return route.Area{
		Name: "Operations", Prefix: operationsPrefix, Access: s.superuser(),
		About: "What superusers do: accounts, plans, widgets, keys of the storefront, orders, and what goes on behind them.",
		Routes: slices.Concat(s.userRoutes(), s.planRoutes(), s.widgetRoutes(), s.keyRoutes(),
			s.orderFileRoutes(), s.sagaRoutes(), s.inboxRoutes(), s.mailRoutes(), s.incidentRoutes(), []route.Route{s.reconciliationRoute()}),
	}
}

// A versioned record says which version of it is shown, in the form of an
// ETag: "plan-3-2".
type versioned interface{ tag() string }

// found is what the path names, for the answer.
func found[A any, PA interface {
	*A
	versioned
}](_ context.Context, c route.Call) (PA, error) {
	record := c.Subject.(PA) //nolint:forcetypeassert // the route is declared with what finds it
	c.ETag(record.tag())
	return record, nil
}

// asShown is the record after a change, for the answer.
func asShown[PA versioned](c route.Call, find func() (PA, error)) (PA, error) {
	record, err := find()
	if err == nil {
		c.ETag(record.tag())
	}
	return record, err
}

// subject is what the path names, for [route.Route.Find].
func subject[PA versioned](record PA, err error) (any, string, error) {
	if err != nil {
		return nil, "", err
	}
	return record, record.tag(), nil
}

// tagOf names a version: "plan-3-2".
func tagOf(sort, id string, version int) string { return sort + "-" + id + "-" + strconv.Itoa(version) }

// alike makes a list of records out of a list of rows.
func alike[Row, A any](found projections.Listed[Row], err error, record func(Row) A) (projections.Listed[A], error) {
	rows := make([]A, len(found.Rows))
	for i, row := range found.Rows {
		rows[i] = record(row)
	}
	return projections.Listed[A]{Count: found.Count, Rows: rows}, err
}

// change carries out commands on the stream that the caller has found in this
// version.
func (s *Server) change(ctx context.Context, c route.Call, version int, commands ...domain.Command) error {
	_, err := s.Commands.Execute(ctx, c.CauseOf(domain.Versions{commands[0].Stream(): version}), commands...)
	return err
}

// tries bounds how often a change is made anew because others were faster.
const tries = 4

// persist makes a change that rests on what was found. If somebody else was
// faster, it is found again and the change made anew, unless the caller wants
// just this version to be changed.
func persist[A any](c route.Call, record A, change func(A) error, find func() (A, error)) error {
	for try := 1; ; try++ {
		err := change(record)
		switch {
		case domain.CodeOf(err) != domain.Stale, c.IsExact():
			return err
		case try == tries:
			return domain.Refuse(domain.Conflict, "Conflict, please retry.")
		}
		if record, err = find(); err != nil {
			return err
		}
	}
}

// number draws one for a new record.
func (s *Server) number(ctx context.Context, sort string) (int64, error) {
	ids, err := s.Numbers.NextIDs(ctx, sort)
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// isTaken tells whether a change was refused because of what another record
// has in this field.
func isTaken(err error, name string) bool {
	var refusal *domain.Error
	return errors.As(err, &refusal) && refusal.Code == domain.Invalid && refusal.Field == name
}

// mayRefer says so if a reference that was sent leads nowhere: look tells
// whether it does. What is known to be wrong is left alone.
func mayRefer(wrong *field.Errors, name string, id *int64, look func(int64) error) error {
	if id == nil || isWrong(*wrong, name) {
		return nil
	}
	err := look(*id)
	if isMissing(err) {
		wrong.Add(name, field.NoSuchPK(*id))
		return nil
	}
	return err
}
