package operations

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"hostpanel/domain/field"
	"hostpanel/domain/notice"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

const (
	mailPreviewsPath = operationsPrefix + "mail-previews/"
	mailPreviewPath  = mailPreviewsPath + "{template}/"
)

// mailRoutes show what the panel writes to people, without writing to any
// (docs/notifications.md, "What mails look like").
func (s *mailPreviews) mailRoutes() []route.Route {
	asked := new(previewAsked).Fields()
	return []route.Route{
		route.List(mailPreviewsPath, "The mails that there are, by the names of their templates", s.listMailTemplates).
			As("mail_preview_list"),
		route.Get(mailPreviewPath, "A mail as it would be sent", s.previewMail).As("mail_preview_read").Of("MailTemplate").
			Taking(asked[0]).Taking(asked[1]).
			Saying("With made-up names, numbers and links. Nothing is sent.").
			Failing(http.StatusBadRequest, "The language is not spoken, or there is no such tenant."),
	}
}

// A previewAsked is whose mail it would be.
type previewAsked struct {
	Language string
	Tenant   int64
}

// Fields are the parameters.
func (a *previewAsked) Fields() field.Set {
	return field.Set{
		field.Text("language", &a.Language).Among(slices.Sorted(maps.Keys(web.Texts))...).Doc(
			"In which it is written; English if nothing is said.",
		),
		field.Int("tenant", &a.Tenant).Doc("In whose brand; in the panel's own if nothing is said."),
	}
}

// A mailTemplate is one sort of mail.
type mailTemplate struct{ Name string }

// Fields are the template.
func (m *mailTemplate) Fields() field.Set {
	return field.Set{field.Text("template", &m.Name).ReadOnly()}
}

func (s *mailPreviews) listMailTemplates(context.Context, route.Call) ([]mailTemplate, error) {
	var all []mailTemplate
	for _, name := range notice.Templates() {
		all = append(all, mailTemplate{name})
	}
	return all, nil
}

// A mailPreview is a mail that is not sent.
type mailPreview struct {
	Template, Language string
	Tenant             *int64
	Headers            json.RawMessage
	notice.Mail
}

// Fields are the mail as its reader's program gets it.
func (m *mailPreview) Fields() field.Set {
	return field.Set{
		field.Text("template", &m.Template).ReadOnly(),
		field.Text("language", &m.Language).ReadOnly(),
		field.NullInt("tenant", &m.Tenant).ReadOnly(),
		field.Text("from", &m.From).ReadOnly(),
		field.Text("reply_to", &m.ReplyTo).ReadOnly().Doc("Empty: the sender."),
		field.Text("subject", &m.Subject).ReadOnly(),
		field.Any("headers", &m.Headers).ReadOnly().Doc("Further headers by their names."),
		field.Text("text", &m.Text).ReadOnly(),
		field.Text("html", &m.HTML).ReadOnly(),
	}
}

func (s *mailPreviews) previewMail(ctx context.Context, c route.Call) (*mailPreview, error) {
	asked := previewAsked{Language: web.English}
	if _, err := c.Filter(asked.Fields()); err != nil {
		return nil, err
	}
	m, err := s.mails.Preview(ctx, c.Var("template"), asked.Language, asked.Tenant)
	if err != nil {
		return nil, err
	}
	p := mailPreview{Template: c.Var("template"), Language: asked.Language, Mail: m}
	if asked.Tenant != 0 {
		p.Tenant = &asked.Tenant
	}
	if p.Headers, err = json.Marshal(m.Headers); err != nil {
		return nil, fmt.Errorf("show the headers of a mail: %w", err)
	}
	return &p, nil
}
