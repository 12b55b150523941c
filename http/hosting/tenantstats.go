package hosting

import (
	"context"
	"slices"
	"time"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/route"
)

// measured are what is told of a tenant, in the order of the answer: what is
// counted, and what the engine measures.
var measured = func() (names []string) {
	for _, kind := range hosting.Kinds {
		if kind.Quota != "" {
			names = append(names, kind.Quota)
		}
	}
	return append(names, hosting.StorageMB, hosting.TrafficMB)
}()

// ofSaaS are what a SaaS service lets a tenant have. The panel counts the hosting
// accounts; it has no objects for the others, so that these are shown only.
var ofSaaS = []string{hosting.HostingAccounts, "vms", "agents"}

// A stats is how much a tenant uses of what it may (docs/tenants.md, "Figures").
type stats struct {
	tenant      int64
	tenantName  string
	shares      map[string]*share
	collectedAt *time.Time // nil: nothing was measured yet
}

// Fields are the tenant and a share of everything.
func (s *stats) Fields() field.Set {
	set := field.Set{field.Int("tenant", &s.tenant).ReadOnly(), field.Text("tenant_name", &s.tenantName).ReadOnly()}
	for _, name := range slices.Concat(measured, ofSaaS) {
		of := s.shares[name]
		if of == nil {
			of = &share{}
		}
		one := field.Object(name, &of)
		if slices.Contains(ofSaaS, name) {
			one = one.When(s.shares[name] != nil).Doc("Of tenants with a SaaS service alone.")
		}
		set = append(set, one)
	}
	return append(set, field.NullTime("collected_at", &s.collectedAt).ReadOnly())
}

// A share is how much of something there is, and may be.
type share struct {
	used  int64
	limit *int64 // nil: any number
}

// Fields are both numbers.
func (s *share) Fields() field.Set {
	return field.Set{field.Int("used", &s.used).ReadOnly(), field.NullInt("limit", &s.limit).ReadOnly()}
}

func (t *tenants) statsRoute() route.Route {
	return route.Get(tenantPath+"stats/", "What a tenant uses of what it may", t.stats).As("tenant_stats").
		Of(t.collection.kind.Class).For(t.callers.User()).Finding(t.find).
		Saying(
			"Records are counted at this moment; storage and this month's traffic are what the engine said at " +
				"collected_at. A limit of null is none.",
		)
}

func (t *tenants) stats(ctx context.Context, c route.Call) (*stats, error) {
	w := c.Subject.(*resource) //nolint:forcetypeassert // found by find
	used, err := t.used(ctx, w.row.ID)
	if err != nil {
		return nil, err
	}
	limits, err := t.service.LimitsOf(ctx, specOf(w))
	if err != nil {
		return nil, err
	}
	answer := &stats{tenant: w.row.ID, tenantName: specOf(w).Name, shares: map[string]*share{}}
	for _, name := range measured {
		answer.shares[name] = &share{used: used[name], limit: unlessUnlimited(limits.Of(name))}
	}
	if err := t.addSaaS(ctx, w, answer); err != nil {
		return nil, err
	}
	usage, err := t.callers.System().Hosting().Usage(ctx, w.row.ID)
	if !usage.CollectedAt.IsZero() {
		answer.collectedAt = &usage.CollectedAt
		answer.shares[hosting.StorageMB].used, answer.shares[hosting.TrafficMB].used = usage.StorageMB(), usage.TrafficMB()
	}
	return answer, err
}

// addSaaS adds what the SaaS services of the tenant let it have.
func (t *tenants) addSaaS(ctx context.Context, w *resource, to *stats) error {
	accounts, _, err := t.callers.System().Hosting().LimitOfSubTenants(ctx, w.row.ID)
	may := specOf(w).MaySaaS()
	if accounts == 0 && may == (hosting.SaaSLimits{}) {
		return err
	}
	for i, most := range []int64{may.MaxHostingAccounts, may.MaxVMs, may.MaxAgents} {
		to.shares[ofSaaS[i]] = &share{limit: unlessUnlimited(most)}
	}
	to.shares[hosting.HostingAccounts].used = accounts
	return err
}

// used counts what the tenant has, by what is counted.
func (t *tenants) used(ctx context.Context, id int64) (map[string]int64, error) {
	counts, err := t.callers.System().Hosting().Counts(ctx, id)
	used := map[string]int64{}
	for _, kind := range hosting.Kinds {
		if kind.Quota != "" {
			used[kind.Quota] = counts[kind.Name]
		}
	}
	return used, err
}

func unlessUnlimited(limit int64) *int64 {
	if limit == hosting.Unlimited {
		return nil
	}
	return &limit
}
