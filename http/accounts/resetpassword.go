package accounts

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"hostpanel/domain/field"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/http/web"
)

func (s *passwords) showReset(_ context.Context, c route.Call, back *web.Returned) (*route.Document, error) {
	return s.web.Sheet(c, back.StatusOf(), "reset", "reset_title", map[string]any{"Form": s.web.Fill(c, web.Form{
		Name: "reset", Action: web.ResetPath, Inputs: []web.Input{
			{Name: "email", Type: "email", Autocomplete: "email", Required: true, Plain: true, Focus: true},
		},
	}, back)})
}

// sendLink says the same whether the account exists or not.
func (s *passwords) sendLink(ctx context.Context, c route.Call, sent url.Values) (*route.Document, error) {
	var asked resetRequest
	if err := web.DecodeForm(&asked, sent); err != nil {
		return nil, err
	}
	if err := s.reset(ctx, c, asked.Email); err != nil {
		return nil, err
	}
	w := web.Texts[web.Readers(c)]
	return s.web.Sheet(c, http.StatusOK, "notice", "reset_done_title", map[string]any{
		"Text": w["reset_done"], "About": "", "Path": caller.LoginPath, "Way": w["back_to_login"],
	})
}

// A resetRequest names the address of its user.
type resetRequest struct{ Email string }

// Fields are the address.
func (f *resetRequest) Fields() field.Set {
	return field.Set{field.Text("email", &f.Email).Required().Is(field.Email)}
}

// askReset says the same to everybody.
func (s *passwords) askReset(ctx context.Context, c route.Call, f *resetRequest) (*message, error) {
	if err := s.reset(ctx, c, f.Email); err != nil {
		return nil, err
	}
	return &message{resetAnswer}, nil
}

// reset has a link mailed to the user with the address, unless there were too
// many requests from one place.
func (s *passwords) reset(ctx context.Context, c route.Call, email string) error {
	const fromAddress = 60 // a minute
	if err := s.callers.Limiter.Spend(ctx, "password_reset", caller.Network(c.IP, 32, 64), fromAddress, time.Minute); err != nil {
		return err
	}
	return s.accounts.AskReset(ctx, email)
}
