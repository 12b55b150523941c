package hosting

import (
	"context"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/projections"
)

// Create asks for the record of a prepared draft. The credentials are those
// that were generated for it; nil: none.
func (s *Service) Create(
	ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft,
) (domain.Receipt, *hosting.Credentials, error) {
	if err := s.orderable(ctx, d); err != nil {
		return domain.Receipt{}, nil, err
	}
	given := generate(d)
	if err := makeKeys(d); err != nil {
		return domain.Receipt{}, nil, err
	}
	commands, err := s.evicting(ctx, d)
	if err != nil {
		return domain.Receipt{}, nil, err
	}
	resigning, err := s.resigning(ctx, d)
	if err != nil {
		return domain.Receipt{}, nil, err
	}
	secrets := seal(d)
	request, err := s.request(ctx, d)
	if err != nil {
		return domain.Receipt{}, nil, err
	}
	receipt, err := s.carry(ctx, cause, by, d, secrets, append(append(resigning, commands...), request)...)
	return receipt, given, s.InNumbers(ctx, d, err)
}

// CreateTenant makes a tenant. It has no members yet.
func (s *Service) CreateTenant(ctx context.Context, cause hosting.Cause, by projections.Caller, d *hosting.Draft) (domain.Receipt, error) {
	subject, err := s.Subjects.Subject(ctx, hosting.TextIn(d.Spec, "email"))
	if err != nil {
		return domain.Receipt{}, err
	}
	receipt, err := s.carry(
		ctx, cause, by, d, nil,
		hosting.Request{Ref: d.Ref(), Tenant: d.ID, Spec: d.Spec.Fields().Values(), Subject: subject},
	)
	return receipt, s.InNumbers(ctx, d, err)
}

// request asks for a new record, whose secrets are sealed.
func (s *Service) request(ctx context.Context, d *hosting.Draft) (hosting.Request, error) {
	request := hosting.Request{Ref: d.Ref(), Tenant: d.Tenant, Spec: d.Spec.Fields().Values()}
	if len(d.Kind.Personal) == 0 {
		return request, nil
	}
	tenant, err := s.tenantOf(ctx, d.Tenant)
	if err != nil {
		return request, err
	}
	request.Subject, err = s.subjectOf(ctx, tenant)
	return request, err
}

// resigning are the changes by which others give up the flag that only one
// record may have.
func (s *Service) resigning(ctx context.Context, d *hosting.Draft) (commands []domain.Command, err error) {
	if d.Kind.Single == "" || string(d.Changes()[d.Kind.Single]) != "true" {
		return nil, nil
	}
	holders, err := s.system().Hosting().OfKind(
		ctx, d.Kind, projections.Listing{Filters: []projections.Filter{{Field: d.Kind.Single, Op: "=", Value: true}}},
	)
	for _, row := range holders.Rows {
		commands = append(commands, change(row, d.Kind.Single, "false"))
	}
	return commands, err
}
