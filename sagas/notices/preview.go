package notices

import (
	"context"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/notice"
	"hostpanel/projections"
)

// Preview is a mail with sample data in a language ("es", "en"; "" is English),
// in the name of a tenant (0: the panel). A template that does not exist is
// refused with domain.NotFound; a language or a tenant that does not exist is
// refused with domain.Invalid and the field.
func (n *Notifier) Preview(ctx context.Context, template, language string, tenant int64) (notice.Mail, error) {
	l, known := notice.Sample(template, language)
	switch {
	case !known:
		return notice.Mail{}, domain.Refuse(domain.NotFound, "No MailTemplate matches the given query.")
	case language != "" && language != "es" && language != "en":
		return notice.Mail{}, domain.RefuseField("language", field.NotAChoice(language))
	}
	l.From = n.mailFrom
	if tenant != 0 {
		if _, err := n.tables.For(projections.System).Hosting().Tenant(ctx, tenant); err != nil {
			return notice.Mail{}, unlessUnknown(err, tenant)
		}
		var err error
		if l, err = n.branded(ctx, tenant, l); err != nil {
			return notice.Mail{}, err
		}
	}
	for _, link := range []*string{&l.PanelURL, &l.Link, &l.Unsubscribe} {
		*link = strings.Replace(*link, notice.SamplePanel, n.publicURL(), 1)
	}
	return l.Write()
}

func unlessUnknown(err error, tenant int64) error {
	if domain.CodeOf(err) == domain.NotFound {
		return domain.RefuseField("tenant", field.NoSuchPK(tenant))
	}
	return err
}
