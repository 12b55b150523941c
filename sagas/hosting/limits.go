package hosting

import (
	"context"
	"errors"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// checkLimit refuses a new record that is one too many, in numbers. The
// database decides again when it is written.
func (s *Service) checkLimit(ctx context.Context, d *hosting.Draft) error {
	if !d.IsNew() {
		return nil
	}
	used, most, err := s.limit(ctx, d)
	if err == nil && most != hosting.Unlimited && used >= most {
		err = hosting.LimitReached(countedAs(d.Kind), used, most)
	}
	return err
}

// countedAs is what the records of a kind are called where they are counted.
func countedAs(kind hosting.Kind) string {
	if kind.Owner {
		return hosting.HostingAccounts
	}
	return kind.Counted()
}

// limit is how many there are of what the record is one of, and may be.
func (s *Service) limit(ctx context.Context, d *hosting.Draft) (used, most int64, err error) {
	if parent, is := d.Kind.Parent(); is && d.Kind.Most > 0 {
		used, err = s.system().Hosting().Referring(ctx, d.Kind.Name, parent.Field, hosting.NumberIn(d.Spec, parent.Field))
		return used, d.Kind.Most, err
	}
	if parent, is := d.Kind.Parent(); is && d.Kind.MostIn != "" {
		id := hosting.NumberIn(d.Spec, parent.Field)
		whole, err := s.system().Hosting().Resource(ctx, hosting.Ref{Kind: parent.Kind, ID: id})
		if err != nil {
			return 0, hosting.Unlimited, err
		}
		used, err = s.system().Hosting().Referring(ctx, d.Kind.Name, parent.Field, id)
		return used, whole.Number(d.Kind.MostIn), err
	}
	if d.Kind.Owner {
		return subTenants{s}.limit(ctx, d)
	}
	if d.Kind.Quota == "" {
		return 0, hosting.Unlimited, nil
	}
	return s.system().Hosting().Limit(ctx, d.Kind, d.Tenant)
}

// InNumbers says which limit was reached, if that is what err is about.
func (s *Service) InNumbers(ctx context.Context, d *hosting.Draft, err error) error {
	if !isOverQuota(err) {
		return err
	}
	used, most, counted := s.limit(ctx, d)
	if counted != nil {
		return counted
	}
	return hosting.LimitReached(countedAs(d.Kind), used, most)
}

// isOverQuota reports whether a record was refused because there are too many.
func isOverQuota(err error) bool {
	var refusal *domain.Error
	return errors.As(err, &refusal) && refusal.Reason == "quota_exceeded"
}
