package users

import (
	"context"
	_ "embed"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"hostpanel/cmd/hostpanel/config"
	"hostpanel/cmd/hostpanel/console"
	"hostpanel/cmd/hostpanel/program"
	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/offline"
	"hostpanel/domain/operations"
	"hostpanel/sagas/accounts"
)

type userExport struct {
	Email string `arg:"" help:"Of the account."`
	HTML  bool   `name:"html" help:"A page for people instead of JSON."`
}

// Run writes all that is known of a person to the output: JSON, or a page that needs no
// network.
func (u userExport) Run(ctx context.Context, s config.Settings, c console.Console) error {
	return program.With(ctx, s, c, func(p *program.Program) error {
		user, err := userNamed(ctx, p, u.Email)
		if err != nil {
			return err
		}
		known, err := p.Sagas.Accounts.Export(ctx, user.ID)
		if err != nil {
			return err
		}
		if u.HTML {
			return exportPage.Execute(c.Out, exported(known))
		}
		return c.JSON(exported(known))
	})
}

// An export is what `hostpanel user export` writes (docs/accounts.md, "Export").
type export struct {
	MadeAt   time.Time                `json:"made_at"`
	Account  field.Set                `json:"account"`
	SignIns  []signInLine             `json:"sign_ins"`
	Events   []accounts.PersonalEvent `json:"events"`
	Webhooks []webhookLine            `json:"webhooks"`

	Known accounts.PersonalData `json:"-"` // for the page
}

type signInLine struct {
	Browser   bool      `json:"is_browser"`
	StartedAt time.Time `json:"started_at"`
	SeenAt    time.Time `json:"seen_at"`
}

type webhookLine struct {
	Provider   string          `json:"provider"`
	Type       string          `json:"type"`
	Order      *uuid.UUID      `json:"order"`
	ReceivedAt time.Time       `json:"received_at"`
	Body       json.RawMessage `json:"body"` // null: it is no longer kept
}

func exported(known accounts.PersonalData) export {
	e := export{MadeAt: known.MadeAt, Account: withMemberships(&known.User, known.Memberships), Events: known.Events, Known: known}
	e.SignIns = console.Each(known.SignIns, func(s domain.SignIn) signInLine { return signInLine{s.IsBrowser, s.StartedAt, s.SeenAt} })
	e.Webhooks = console.Each(known.Webhooks, func(w operations.Webhook) webhookLine {
		return webhookLine{w.Provider, w.Type, w.Order, w.ReceivedAt, w.Body}
	})
	return e
}

//go:embed export.html
var exportText string

var exportPage = offline.Page(exportText)
