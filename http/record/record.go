// Package record holds what all areas need to find, change and show one
// versioned record.
package record

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// Commands carries out what callers ask for, all or none.
type Commands interface {
	Execute(context.Context, domain.Metadata, ...domain.Command) (domain.Receipt, error)
}

// Numbers draws numbers for new records: "user", "plan", "widget".
type Numbers interface {
	NextIDs(ctx context.Context, sorts ...string) ([]int64, error)
}

// A Versioned record says which version of it is shown, in the form of an
// ETag: "plan-3-2".
type Versioned interface{ Tag() string }

// Found is what the path names, for the answer.
func Found[A any, PA interface {
	*A
	Versioned
}](_ context.Context, c route.Call) (PA, error) {
	record := c.Subject.(PA) //nolint:forcetypeassert // the route is declared with what finds it
	c.ETag(record.Tag())
	return record, nil
}

// Shown is the record after a change, for the answer.
func Shown[PA Versioned](c route.Call, find func() (PA, error)) (PA, error) {
	record, err := find()
	if err == nil {
		c.ETag(record.Tag())
	}
	return record, err
}

// Subject is what the path names, for [route.Route.Find].
func Subject[PA Versioned](record PA, err error) (any, string, error) {
	if err != nil {
		return nil, "", err
	}
	return record, record.Tag(), nil
}

// Tag names a version: "plan-3-2".
func Tag(sort, id string, version int) string { return sort + "-" + id + "-" + strconv.Itoa(version) }

// Fingerprint is a short one of what is shown.
func Fingerprint(fields field.Set) string {
	sum := sha256.Sum256(fields.AppendJSON(nil))
	return hex.EncodeToString(sum[:6])
}

// Map makes a list of records out of a list of rows.
func Map[Row, A any](found projections.Listed[Row], err error, record func(Row) A) (projections.Listed[A], error) {
	rows := make([]A, len(found.Rows))
	for i, row := range found.Rows {
		rows[i] = record(row)
	}
	return projections.Listed[A]{Count: found.Count, Rows: rows}, err
}

// Execute carries out commands on the stream that the caller has found in this
// version.
func Execute(ctx context.Context, to Commands, c route.Call, version int, commands ...domain.Command) error {
	_, err := to.Execute(ctx, c.CauseOf(domain.Versions{commands[0].Stream(): version}), commands...)
	return err
}

// Tries bounds how often a change is made anew because others were faster.
const Tries = 4

// Persist makes a change that rests on what was found. If another caller was
// faster, it is found again and the change made anew, unless the caller wants
// just this version to be changed.
func Persist[A any](c route.Call, record A, change func(A) error, find func() (A, error)) error {
	for try := 1; ; try++ {
		err := change(record)
		switch {
		case domain.CodeOf(err) != domain.Stale, c.IsExact():
			return err
		case try == Tries:
			return domain.Refuse(domain.Conflict, "Conflict, please retry.")
		}
		if record, err = find(); err != nil {
			return err
		}
	}
}

// NextNumber draws one for a new record.
func NextNumber(ctx context.Context, from Numbers, sort string) (int64, error) {
	ids, err := from.NextIDs(ctx, sort)
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

// MayRefer says so if a reference that was sent leads nowhere: look tells
// whether it does. What is known to be wrong is left alone.
func MayRefer(wrong *field.Errors, name string, id *int64, look func(int64) error) error {
	if id == nil || IsWrong(*wrong, name) {
		return nil
	}
	err := look(*id)
	if IsMissing(err) {
		wrong.Add(name, field.NoSuchPK(*id))
		return nil
	}
	return err
}

// IsWrong tells whether something was said about a field already.
func IsWrong(known field.Errors, name string) bool {
	return slices.ContainsFunc(known, func(w field.Wrong) bool { return w.Field == name })
}

// IsMissing tells whether an error says that a record does not exist.
func IsMissing(err error) bool {
	var refusal *domain.Error
	return errors.As(err, &refusal) && refusal.Code == domain.NotFound
}

// Subjects finds the person behind an address, or makes one.
type Subjects interface {
	Subject(ctx context.Context, email string) (uuid.UUID, error)
}
