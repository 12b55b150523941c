package hosting

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// lookUpTime is how long the name servers of a domain have for their answer.
const lookUpTime = 5 * time.Second

// ProveSender looks for the record of a brand at the domain of its address, and
// keeps that it was seen. From then on the tenant's mails come from that address
// (docs/white-label.md, "Mails"). A record that is not there, and a domain that is no
// active mail domain of the tenant, are refused with the name of the field.
func (s *Service) ProveSender(
	ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft, look *hosting.WhiteLabel,
) (domain.Receipt, error) {
	if err := hasMailDomain(ctx, s.system(), d.Tenant, look.AddressDomain()); err != nil {
		return domain.Receipt{}, err
	}
	if err := seesRecord(ctx, s.Resolver, look.AddressDomain(), look.SenderRecord); err != nil {
		return domain.Receipt{}, err
	}
	look.SenderDomain = look.AddressDomain()
	return s.Change(ctx, cause, by, d)
}

func hasMailDomain(ctx context.Context, all projections.Scope, tenant int64, name string) error {
	if name == "" {
		return domain.RefuseField("email_from_address", "This field is required.")
	}
	own, err := all.Hosting().ReceivesMail(ctx, tenant, name)
	if err == nil && !own {
		err = domain.RefuseField("email_from_address", "Its domain is none of the tenant's active mail domains.")
	}
	return err
}

// seesRecord looks for a TXT record at a domain. A name server that answers nothing
// proves nothing.
func seesRecord(ctx context.Context, names Resolver, name, record string) error {
	ctx, cancel := context.WithTimeout(ctx, lookUpTime)
	defer cancel()
	found, err := names.LookupTXT(ctx, strings.TrimSuffix(name, ".")+".")
	var failed *net.DNSError
	switch {
	case err == nil && record != "" && slices.Contains(found, record), err != nil && !errors.As(err, &failed):
		return err
	case err == nil, failed.IsNotFound:
		return domain.RefuseField("email_from_address", "No TXT record "+record+" was found at "+name+".")
	}
	return domain.Refuse(domain.Unavailable, "The name servers of %s did not answer. Try again later.", name)
}
