package http_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"

	"hostpanel/domain"
	"hostpanel/domain/webhook"
	"hostpanel/eventstore"
)

// hooks makes endpoints whose secrets nobody keeps.
type hooks struct{ *eventstore.Store }

func (h hooks) Open(ctx context.Context, cause domain.Cause, open webhook.Create) (string, error) {
	_, err := h.Execute(ctx, cause, open)
	return newSecret(), err
}

func (h hooks) Rotate(ctx context.Context, cause domain.Cause, id int64) (string, error) {
	_, err := h.Execute(ctx, cause, webhook.Rotate{ID: id})
	return newSecret(), err
}

func (h hooks) Remove(ctx context.Context, cause domain.Cause, id int64) error {
	_, err := h.ExecuteWith(ctx, cause, eventstore.EraseRows(webhook.Subject(id)), webhook.Remove{ID: id})
	return err
}

func newSecret() string {
	random := make([]byte, 32)
	_, _ = rand.Read(random)
	return "whsec_" + base64.StdEncoding.EncodeToString(random)
}
