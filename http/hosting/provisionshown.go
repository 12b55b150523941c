package hosting

import (
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A siteAnswer shows all records of a provision and the status of each step.
type siteAnswer struct {
	kinds       *collection
	provision   *provision
	proxy       *proxyShown
	credentials *madeUp
	steps       []stepShown
	status      string
}

// Fields are the answer.
func (a *siteAnswer) Fields() field.Set {
	set := field.Set{}
	for _, kind := range []string{"site", "dns_zone", "mail_domain", "ftp_account", "database"} {
		set = append(set, a.record(kind))
	}
	return append(set,
		field.Object("proxy", &a.proxy),
		field.Object("credentials", &a.credentials).OneTime().Doc("What was made up. It is shown only here, and only once."),
		field.Objects("steps", &a.steps),
		field.Text("status", &a.status).Among("complete", "pending", "partial").Doc("Partial: some step has failed.").ReadOnly(),
	)
}

// record shows one of the records; null: it was not requested.
func (a *siteAnswer) record(kind string) field.Field {
	k := a.kinds.named(kind)
	h := &hosted{resource: k.empty(), now: k.callers.Now()}
	var one *piece
	if a.provision != nil {
		one = a.provision.first(kind)
	}
	if one != nil {
		h.resource = one.resource
	}
	return field.Within(kind, one != nil, h.Fields)
}

// A proxy is shown by its domain and its target.
type proxyShown struct{ resource *resource }

// Fields are the proxy.
func (s *proxyShown) Fields() field.Set {
	var proxy hosting.Proxy
	var status string
	if s.resource != nil {
		proxy, status = *s.resource.Spec.(*hosting.Proxy), s.resource.row.SyncStatus //nolint:forcetypeassert // of this kind
	}
	return field.Set{
		field.Text("domain", &proxy.Domain).ReadOnly(),
		field.Text("upstream", &proxy.Upstream).ReadOnly(),
		field.Text("sync_status", &status).Among("pending", "synced", "error").ReadOnly(),
	}
}

// The generated credentials of a provision.
type (
	madeUp struct {
		ftp      *ftpLogin
		database *databaseLogin
	}
	ftpLogin      struct{ username, password string }
	databaseLogin struct{ name, user, password string }
)

// Fields are the credentials.
func (m *madeUp) Fields() field.Set {
	return field.Set{field.Object("ftp", &m.ftp), field.Object("database", &m.database)}
}

// Fields are the login.
func (l *ftpLogin) Fields() field.Set {
	return field.Set{field.Text("username", &l.username).ReadOnly(), field.Text("password", &l.password).ReadOnly()}
}

// Fields are the login.
func (l *databaseLogin) Fields() field.Set {
	return field.Set{
		field.Text("name", &l.name).ReadOnly(), field.Text("db_user", &l.user).ReadOnly(),
		field.Text("db_password", &l.password).ReadOnly(),
	}
}

// credentials are the credentials that this call has generated; nil: none.
func (p *provision) credentials() *madeUp {
	var m madeUp
	if one := p.first("ftp_account"); one != nil && one.password != "" {
		m.ftp = &ftpLogin{hosting.TextIn(one.Spec, "username"), one.password}
	}
	if one := p.first("database"); one != nil && one.password != "" {
		m.database = &databaseLogin{hosting.TextIn(one.Spec, "name"), hosting.TextIn(one.Spec, "db_user"), one.password}
	}
	if m == (madeUp{}) {
		return nil
	}
	return &m
}

// A step is shown with its status and the first of its records.
type stepShown struct {
	name, status, code string
	id                 *int64
}

// Fields are the step.
func (s *stepShown) Fields() field.Set {
	return field.Set{
		field.Text("step", &s.name).ReadOnly(),
		field.Text("status", &s.status).Among("done", "pending", "failed", "skipped").ReadOnly(),
		field.NullInt("resource_id", &s.id).ReadOnly(),
		field.Text("error", &s.code).ReadOnly().Doc("Short and stable, such as not_supported."),
	}
}

// outcome is the status of each step, and of the whole provision.
func (p *provision) outcome() (all []stepShown, whole string) {
	whole = "complete"
	for _, step := range hosting.SiteSteps {
		shown := stepShown{name: step, status: "skipped"}
		for _, one := range p.pieces {
			if one.step == step {
				shown.take(one)
			}
		}
		switch {
		case shown.status == "failed":
			whole = "partial"
		case shown.status == "pending" && whole == "complete":
			whole = "pending"
		}
		all = append(all, shown)
	}
	return all, whole
}

// take adds one of the step's records to its status: failed wins over pending,
// and pending over done.
func (s *stepShown) take(one *piece) {
	if s.id == nil {
		s.id, s.status = &one.row.ID, "done"
	}
	switch {
	case one.row.SyncStatus == "error" && s.status != "failed":
		s.status, s.code = "failed", one.row.SyncError
	case one.row.SyncStatus == "pending" && s.status == "done":
		s.status = "pending"
	}
}
