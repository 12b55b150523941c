package accounts

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/masking"
	"hostpanel/domain/notice"
	"hostpanel/domain/operations"
	"hostpanel/eventstore"
	"hostpanel/projections"
)

// PersonalData is all that the panel knows of a person (docs/accounts.md, "Export").
type PersonalData struct {
	MadeAt      time.Time
	User        projections.User
	Memberships []projections.Membership
	SignIns     []domain.SignIn      // that have not ended
	Events      []PersonalEvent      // oldest first
	Webhooks    []operations.Webhook // about the person's orders; bodies without secrets
}

// A PersonalEvent is an event about a person, or one that the person caused. Secrets are
// masked, and texts about other people are blank.
type PersonalEvent struct {
	Position   int64           `json:"position"`
	RecordedAt time.Time       `json:"recorded_at"`
	Stream     string          `json:"stream"`
	Type       string          `json:"type"`
	Text       string          `json:"text"` // what happened, in words
	Actor      string          `json:"actor"`
	Data       json.RawMessage `json:"data"`
}

const (
	exportedSignIns = 1000 // bounds the list of sessions and programs
	exportedNotices = 1000 // in a query
)

// Export collects what the panel knows of the person behind an account, under every
// address that the account has had, unless another account has it by now. It reads the
// whole log.
func (s *Service) Export(ctx context.Context, user int64) (all PersonalData, err error) {
	all.MadeAt = s.runner.Now().UTC()
	if all.User, err = s.tables.For(projections.System).Accounts().User(ctx, user); err != nil {
		return all, err
	}
	if all.Memberships, err = s.tables.For(projections.System).Accounts().Memberships(ctx, user); err != nil {
		return all, err
	}
	if all.SignIns, _, err = s.vault.SignIns(ctx, user, all.User.SessionVersion, 0, exportedSignIns); err != nil {
		return all, err
	}
	subjects, _, err := s.subjects(ctx, user)
	if err != nil {
		return all, err
	}
	streams, err := s.streamsOf(ctx, user)
	if err != nil {
		return all, err
	}
	found, err := s.store.Reader().About(ctx, actorsOf(user), streams, subjects...)
	if err != nil {
		return all, err
	}
	if all.Events, err = personal(found); err != nil {
		return all, err
	}
	all.Webhooks, err = s.webhooks(ctx, subjects)
	for i := range all.Webhooks {
		if all.Webhooks[i].Body != nil {
			all.Webhooks[i].Body = masking.JSON(all.Webhooks[i].Body)
		}
	}
	return all, err
}

// actorsOf are the actors that a user is: as themselves, and as an operator.
func actorsOf(user int64) []string {
	id := strconv.FormatInt(user, 10)
	return []string{"user:" + id, "operator:" + id}
}

// streamsOf are the streams that are about a user alone.
func (s *Service) streamsOf(ctx context.Context, user int64) (all []domain.Stream, err error) {
	for _, category := range []string{account.Category, account.SecurityCategory, notice.PreferencesCategory, notice.InboxCategory} {
		all = append(all, domain.Stream{Category: category, ID: strconv.FormatInt(user, 10)})
	}
	for after := int64(0); ; after += exportedNotices {
		told, err := s.tables.For(projections.Caller{User: user}).Notices().Notifications(
			ctx, projections.Listing{Offset: after, Limit: exportedNotices},
		)
		for _, n := range told.Rows {
			all = append(all, domain.Stream{Category: notice.NotificationCategory, ID: n.ID.String()})
		}
		if err != nil || len(told.Rows) < exportedNotices {
			return all, err
		}
	}
}

func personal(found []eventstore.RecordedEvent) (all []PersonalEvent, err error) {
	for _, e := range found {
		text, data, err := e.Masked()
		if err != nil {
			return nil, err
		}
		all = append(all, PersonalEvent{e.Position, e.RecordedAt, e.Stream.String(), e.Name, text, e.Metadata.Actor, data})
	}
	return all, nil
}
