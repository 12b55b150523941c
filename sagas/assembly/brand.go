package assembly

import (
	"cmp"
	"context"
	"net/mail"
	"strings"

	"hostpanel/domain/notice"
	"hostpanel/projections"
)

// branded lets a letter come from a tenant that has a look of its own, and look
// like it; from tenant 0, or one without a look, it comes from the panel. Its own
// address stands as the sender only where the panel receives the domain's mail;
// for all others, which anybody could claim, answers go there
// (docs/white-label.md, "Mails").
func (s *Panel) branded(ctx context.Context, tenant int64, l notice.Letter) (notice.Letter, error) {
	scope := s.tables.For(projections.System)
	look, has, err := scope.Branding(ctx, tenant)
	if err != nil || !has {
		return l, err
	}
	l.Brand = notice.Brand{
		Name: look.BrandName, LogoURL: look.LogoURL, Color: look.PrimaryColor, FooterText: look.FooterText, FooterURL: look.FooterURL,
	}
	sender := mail.Address{Address: s.mailFrom}
	if panel, err := mail.ParseAddress(s.mailFrom); err == nil {
		sender = *panel
	}
	sender.Name = cmp.Or(look.EmailFromName, look.BrandName)
	if look.EmailFromEmail != "" {
		_, host, _ := strings.Cut(look.EmailFromEmail, "@")
		own, err := scope.ReceivesMail(ctx, tenant, host)
		if err != nil {
			return l, err
		}
		if own {
			sender.Address = look.EmailFromEmail
		} else {
			l.ReplyTo = look.EmailFromEmail
		}
	}
	l.From = sender.String()
	return l, nil
}

// home is the tenant in whose name a user is written to when nothing else
// tells; 0: none. Superusers act for tenants that are not theirs.
func home(u projections.User) int64 {
	if u.ActiveTenant == nil || u.IsSuperuser {
		return 0
	}
	return *u.ActiveTenant
}
