package notices

import (
	"cmp"
	"context"
	"net/mail"

	"hostpanel/domain/notice"
	"hostpanel/projections"
)

// branded gives a letter the brand of a tenant. The letter of tenant 0, or of a
// tenant without a brand, comes from the panel. The tenant's own address is the
// sender only where its domain is proven and the panel receives the domain's mail;
// otherwise it stands in Reply-To (docs/white-label.md, "Mails").
func (n *Notifier) branded(ctx context.Context, tenant int64, l notice.Letter) (notice.Letter, error) {
	scope := n.tables.For(projections.System)
	look, has, err := scope.Hosting().Branding(ctx, tenant)
	if err != nil || !has {
		return l, err
	}
	l.Brand = notice.Brand{
		Name: look.BrandName, LogoURL: look.LogoURL, Color: look.PrimaryColor, FooterText: look.FooterText, FooterURL: look.FooterURL,
	}
	sender := mail.Address{Address: n.mailFrom}
	if panel, err := mail.ParseAddress(n.mailFrom); err == nil {
		sender = *panel
	}
	sender.Name = cmp.Or(look.EmailFromName, look.BrandName)
	if look.EmailFromEmail != "" {
		own, err := scope.Hosting().ReceivesMail(ctx, tenant, look.AddressDomain())
		if err != nil {
			return l, err
		}
		if own && look.IsProven() {
			sender.Address = look.EmailFromEmail
		} else {
			l.ReplyTo = look.EmailFromEmail
		}
	}
	l.From = sender.String()
	return l, nil
}

// homeTenant is the tenant in whose name a user is written to unless the event
// names another; 0: none. Superusers act for tenants that are not theirs.
func homeTenant(u projections.User) int64 {
	if u.ActiveTenant == nil || u.IsSuperuser {
		return 0
	}
	return *u.ActiveTenant
}
