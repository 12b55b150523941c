package http

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/dns"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// checkProvision surveys what is to be made. What is wrong is looked at once
// more: somebody may have asked for the same meanwhile.
func (s *Server) checkProvision(ctx context.Context, c route.Call, p *provision, wrong *field.Errors) error {
	if err := s.kind("site").checkTenant(ctx, c, p.owner, wrong); err != nil || len(*wrong) > 0 {
		return err
	}
	err := s.survey(ctx, c, p, wrong)
	if isFull(err) || err == nil && len(*wrong) > 0 {
		*wrong = nil
		err = s.survey(ctx, c, p, wrong)
	}
	return err
}

// survey finds what is there of a provision, and checks what is to be made as if
// each record were asked for alone. Limits come last: a tenant that has too
// much is told so only if nothing else is wrong.
func (s *Server) survey(ctx context.Context, c route.Call, p *provision, wrong *field.Errors) error {
	var full error
	p.pieces = nil
	for _, step := range steps {
		if !*p.asked[step.name] {
			continue
		}
		for _, o := range step.demands(p) {
			one, err := s.piece(ctx, c, p, o, wrong)
			if isFull(err) {
				full = cmp.Or(full, err)
			} else if err != nil {
				return err
			}
			one.step = step.name
			p.pieces = append(p.pieces, one)
		}
	}
	if len(*wrong) > 0 {
		return nil
	}
	return full
}

func (s *Server) kind(name string) *collection {
	kind, known := hosting.KindNamed(name)
	if !known {
		panic("http: there is no kind " + name)
	}
	return &collection{s, kind}
}

func isFull(err error) bool {
	var refusal *domain.Error
	return errors.As(err, &refusal) && refusal.Reason == "quota_exceeded"
}

// piece is the record that is there, or else a new one.
func (s *Server) piece(ctx context.Context, c route.Call, p *provision, o demand, wrong *field.Errors) (*piece, error) {
	one, err := s.known(ctx, p, o)
	if one != nil || err != nil {
		return one, err
	}
	k := s.kind(o.kind)
	one = &piece{collection: k, wish: k.empty(), isNew: true}
	one.tenant = p.owner.tenant
	if o.secret != "" {
		one.password = drawnPassword()
		o.fields[o.secret] = one.password
	}
	place := hosting.Place{Tenant: one.tenant, At: k.now(), Operator: callerOf(c).IsSuperuser, Limits: hosting.NoLimits()}
	if parent, is := k.kind.Parent(); is {
		place.Parent = p.first(parent.Kind).spec.Fields().Values()
	}
	return one, one.fill(ctx, o, place, wrong)
}

// known is the record that is there already; nil: there is none.
func (s *Server) known(ctx context.Context, p *provision, o demand) (*piece, error) {
	k := s.kind(o.kind)
	if parent, is := k.kind.Parent(); is {
		of := p.first(parent.Kind)
		if of == nil {
			return nil, nil
		}
		o.fields[parent.Field] = of.row.ID
	}
	row, err := k.there(ctx, p.owner.tenant, o)
	if row == nil || err != nil {
		return nil, err
	}
	w, err := k.whole(ctx, k.system(), *row)
	return &piece{collection: k, wish: w}, err
}

// fill makes a new record of a demand. What is wrong with it is wrong with the
// domain, which is all that the caller has sent of it.
func (one *piece) fill(ctx context.Context, o demand, place hosting.Place, wrong *field.Errors) (err error) {
	body, err := json.Marshal(o.fields)
	if err != nil {
		return err
	}
	if one.row.ID, err = one.number(ctx, one.wish.kind.Name); err != nil {
		return err
	}
	sent, err := one.spec.Fields().DecodeJSON(body, field.Create)
	own := field.ErrorsOf(err)
	place.ID, place.Sent = one.row.ID, sent
	err = one.checkIn(ctx, one.wish, place, &own)
	tellOfDomain(own, wrong)
	return err
}

// tellOfDomain adds what is wrong with a record to what is wrong with the
// provision, in the names of its fields.
func tellOfDomain(own field.Errors, wrong *field.Errors) {
	for _, w := range own {
		name := "domain"
		if slices.Contains([]string{"tenant", "ip_address", field.NonField}, w.Field) {
			name = w.Field
		}
		for _, message := range w.Messages {
			wrong.Add(name, message)
		}
	}
}

// there is the tenant's record that a demand asks for; nil: there is none. A
// name in a zone that answers in its own way already is left alone.
func (k *collection) there(ctx context.Context, tenant int64, o demand) (*projections.Resource, error) {
	key := []string{"domain"}
	switch o.kind {
	case "dns_zone":
		key = []string{"origin"}
	case "dns_record":
		key = []string{"zone", "name"}
	case "ftp_account":
		key = []string{"username"}
	case "database":
		key = []string{"name"}
	}
	l := projections.Listing{Filters: []projections.Filter{{Field: "tenant", Op: "=", Value: tenant}}, Limit: dns.MaxRecords}
	for _, name := range key {
		l.Filters = append(l.Filters, projections.Filter{Field: name, Op: "=", Value: o.fields[name]})
	}
	found, err := k.system().OfKind(ctx, k.kind, l)
	if err != nil {
		return nil, err
	}
	for _, row := range found.Rows {
		if answers, err := o.isAnsweredBy(row); answers || err != nil {
			return &row, err
		}
	}
	return nil, nil
}

// isAnsweredBy tells whether a record of the same name will do. Of DNS records
// one of the type will, or a CNAME, beside which nothing else may stand.
func (o demand) isAnsweredBy(row projections.Resource) (bool, error) {
	if o.kind != "dns_record" {
		return true, nil
	}
	var r hosting.DNSRecord
	if err := row.Load(&r); err != nil {
		return false, err
	}
	if r.Type == dns.TXT && o.fields["record_type"] == dns.TXT {
		text, _ := dns.Text(r.Data)
		return strings.HasPrefix(text, spf), nil
	}
	return r.Type == dns.CNAME || r.Type == o.fields["record_type"], nil
}
