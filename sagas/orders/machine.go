package orders

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore"
	"hostpanel/eventstore/credentials"
	"hostpanel/projections"
)

// placeOf is the place of an order's machine; nil: it has none.
func placeOf(ctx context.Context, tables *projections.Tables, id uuid.UUID) (*compute.Placement, error) {
	place, has, err := tables.For(projections.System).Hosting().PlaceOf(ctx, id)
	if err != nil || !has {
		return nil, err
	}
	return &place.Placement, nil
}

// machineFor is the machine of an order at its place.
func machineFor(
	ctx context.Context, tables *projections.Tables, job *ProvisionInput, o projections.Order,
) (*hosting.Machine, error) {
	m := machineOf(job, o)
	place, err := placeOf(ctx, tables, job.Order)
	if err != nil || place == nil {
		return m, err
	}
	putAt(m, *place)
	if job.OS != "" && job.OS != o.OSChoice {
		m.Template, err = templateOf(ctx, tables, place.Node, job.OS)
	}
	return m, err
}

// makePassword makes up the password of root of a machine that was ordered without a key.
func makePassword(outside Outside, job *ProvisionInput, o projections.Order) []eventstore.TxStatement {
	if job.Password = uuid.Nil; o.SSHKey != "" {
		return nil
	}
	job.Password = uuid.New()
	return outside.SealShown(hosting.Ref{Kind: "vm", ID: job.VM}, job.Password, o.Subject, credentials.NewPassword())
}

// putAt gives a machine the place that was reserved for it.
func putAt(m *hosting.Machine, at compute.Placement) {
	m.Server, m.Host, m.Node, m.Template = at.Server, at.Host, at.Node, at.Template
	m.Bridge, m.VLAN = at.Bridge, at.VLAN
	for _, a := range at.Addresses {
		m.Addresses = append(m.Addresses, a.Address.String())
	}
	m.Gateways, m.NameServers = inText(at.Gateways), inText(at.NameServers)
}

func inText[T fmt.Stringer](values []T) (all []string) {
	for _, v := range values {
		all = append(all, v.String())
	}
	return all
}

// templateOf is what a node installs a system from that an operator has chosen instead.
func templateOf(ctx context.Context, tables *projections.Tables, node, system string) (string, error) {
	n, known, err := tables.For(projections.System).Hosting().NodeNamed(ctx, node)
	if err != nil || !known || len(n.Templates) == 0 {
		return "", err
	}
	if template := n.Template(system); template != "" {
		return template, nil
	}
	return "", domain.Fail(domain.Permanent, "no_template", errors.New("the node has no template of the system"))
}

// jobFor is the job of an order, with numbers for all that it may make.
func jobFor(
	ctx context.Context, o projections.Order, list []string,
	numbered func(ctx context.Context, names ...string) ([]int64, error),
) (job ProvisionInput, err error) {
	job = ProvisionInput{Order: o.ID, Type: o.ResourceType}
	names := []string{}
	var at []*int64
	if o.OrderedBy != nil {
		job.User, job.Tenant, job.Joins = *o.OrderedBy, domain.OrZero(o.Tenant), true
	} else {
		names, at = []string{"user", "tenant"}, []*int64{&job.User, &job.Tenant}
	}
	if slices.Contains(list, "site") {
		names, at = append(names, "site"), append(at, &job.Site)
	}
	if slices.Contains(list, "vm") {
		names, at = append(names, "vm"), append(at, &job.VM)
	}
	numbers, err := numbered(ctx, names...)
	for i, number := range numbers {
		*at[i] = number
	}
	return job, err
}
