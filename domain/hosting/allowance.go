package hosting

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// Unlimited is the limit of tenants that have none.
const Unlimited = -1

// The features that a package can lack.
const (
	SSLEnabled   = "ssl_enabled"   // certificates, and HTTPS
	ShellEnabled = "shell_enabled" // shell users, and shell commands
)

// What the engine measures, where the panel counts everything else.
const (
	StorageMB = "storage_mb"
	TrafficMB = "traffic_mb"
)

const maxPrefix = "max_" // of the fields that hold limits

// A limit is one of the numbers in [Limits].
type limit struct {
	name   string // of what is limited: "sites"
	most   int64  // that the limit can be
	unset  int64  // the limit where nothing sets it
	plan   string // the hosting plan's promise that sets it; empty: none
	factor int64  // by which the plan's unit is greater
}

// limits are all of them, in the order in which packages show them.
var limits = func() (all []limit) {
	for _, k := range Kinds {
		if k.Quota != "" && !k.Uncounted {
			all = append(all, limit{k.Quota, 1_000_000, k.Unset(), k.Plan, 1})
		}
	}
	all = append(all, limit{StorageMB, 1 << 30, Unlimited, "quota_storage_gb", 1024}, limit{TrafficMB, 1 << 30, Unlimited, "", 1})
	slices.SortStableFunc(all, func(a, b limit) int { return a.position() - b.position() })
	return all
}()

// position is where packages show the limit: those that they do not name come last.
func (l limit) position() int {
	i := slices.Index(packages.Shown, maxPrefix+l.name)
	if i < 0 {
		return len(packages.Shown)
	}
	return i
}

// Unset is the limit of the kind where nothing sets it.
func (k Kind) Unset() int64 {
	if k.Rationed {
		return 0
	}
	return Unlimited
}

// Limits are how much of everything a tenant may have: -1 is without limit,
// 0 is none. The zero Limits are 0 of everything.
type Limits struct {
	most  []int64  // in the order of limits
	lacks []string // the features that the package does not have
}

// NoLimits are those of a tenant without a package.
func NoLimits() Limits {
	l := Limits{most: make([]int64, len(limits))}
	for i, of := range limits {
		l.most[i] = of.unset
	}
	return l
}

// With are the limits with another number of what has this name: "sites".
func (l Limits) With(name string, most int64) Limits {
	l.most = slices.Clone(l.most)
	*l.at(slices.IndexFunc(limits, func(of limit) bool { return of.name == name })) = most
	return l
}

func (l *Limits) at(i int) *int64 {
	if l.most == nil {
		l.most = make([]int64, len(limits))
	}
	return &l.most[i]
}

// Fields are the limits as a tenant has them: not its own to set.
func (l *Limits) Fields() field.Set {
	set := l.fields()
	for i := range set {
		set[i] = set[i].ReadOnly()
	}
	return set
}

func (l *Limits) fields() field.Set {
	set := make(field.Set, len(limits))
	for i, of := range limits {
		set[i] = field.Int(maxPrefix+of.name, l.at(i)).Between(Unlimited, of.most).Default(of.unset)
	}
	return set
}

// Lacks tells whether the tenant's package does not have a feature.
func (l Limits) Lacks(feature string) bool { return slices.Contains(l.lacks, feature) }

// Of is the limit of that name: "sites". What has no limit is [Unlimited].
func (l Limits) Of(name string) int64 {
	for _, k := range Kinds {
		if k.Quota == name && l.Lacks(k.Feature) {
			return 0
		}
	}
	i := slices.IndexFunc(limits, func(of limit) bool { return of.name == name })
	if i < 0 {
		return Unlimited
	}
	return *l.at(i)
}

// PackageFrom turns what a hosting plan promises ("quota_sites": 5) into the
// limits of a tenant. What the plan does not promise is as without a package.
func PackageFrom(quotas map[string]int64) Limits {
	l := NoLimits()
	for i, of := range limits {
		if quota, promised := quotas[of.plan]; promised && quota != Unlimited {
			l.most[i] = quota * of.factor
		}
	}
	return l
}

// LimitsAtEngine adds to the values of a tenant the limits that its package
// sets. Without a package the tenant's own count.
func LimitsAtEngine(tenant, pack field.Values) {
	for name, most := range pack {
		if strings.HasPrefix(name, maxPrefix) {
			tenant[name] = most
		}
	}
	for _, k := range Kinds {
		if k.isLimitedBy(k.Feature) && string(pack[k.Feature]) == "false" {
			tenant[maxPrefix+k.Quota] = []byte("0")
		}
	}
}

// OwnLimits are the limits among the values of a tenant.
func OwnLimits(tenant field.Values) field.Values {
	own := maps.Clone(tenant)
	maps.DeleteFunc(own, func(name string, _ json.RawMessage) bool { return !strings.HasPrefix(name, maxPrefix) })
	return own
}

// ChangesLimits tells whether a change of a package alters what [LimitsAtEngine]
// adds.
func ChangesLimits(spec field.Values) bool {
	for name := range spec {
		if strings.HasPrefix(name, maxPrefix) || slices.ContainsFunc(Kinds, func(k Kind) bool { return k.isLimitedBy(name) }) {
			return true
		}
	}
	return false
}

// isLimitedBy tells whether a missing feature makes the limit of the kind 0.
func (k Kind) isLimitedBy(feature string) bool {
	return feature != "" && k.Feature == feature && !k.Uncounted
}

// HostingAccounts is what the sub-tenants of a tenant are called where they are
// counted.
const HostingAccounts = "hosting_accounts"

// SaaSLimits are what a tenant of a SaaS plan may have. The panel counts the hosting
// accounts alone, which are its sub-tenants: it has no agents and no machines of a
// panel's customers.
type SaaSLimits struct {
	MaxVMs, MaxHostingAccounts, MaxAgents int64
	WhiteLabel                            bool
}

// Fields are the limits: not the tenant's own to set.
func (l *SaaSLimits) Fields() field.Set {
	return field.Set{
		field.Int("saas_max_vms", &l.MaxVMs).ReadOnly().Default(0),
		field.Int("saas_max_hosting_accounts", &l.MaxHostingAccounts).ReadOnly().Default(0),
		field.Int("saas_max_agents", &l.MaxAgents).ReadOnly().Default(0),
		field.Flag("saas_whitelabel", &l.WhiteLabel).ReadOnly().Default(false),
	}
}

// How much of what a tenant began with counts: its package or own limits, and the SaaS
// maxima of the order that made it (docs/tenants.md, "Several services").
const (
	FirstCounts = ""
	FirstRests  = "rests" // its service does not run at the moment
	FirstGone   = "gone"  // its service has ended, and another one is left
	FirstGiven  = "given" // an operator has given the tenant a package since
)

// counts tells whether what the tenant began with counts.
func (t *Tenant) counts() bool { return t.First == FirstCounts || t.First == FirstGiven }

// Added is what services that joined a tenant add to what it may have. The zero Added
// adds nothing.
type Added struct {
	Limits Limits
	SaaS   SaaSLimits
}

// addedPrefix is of the fields that hold what was added.
const addedPrefix = "added_"

func (a *Added) fields() (set field.Set) {
	for i, of := range limits {
		set = append(set, field.Int(addedPrefix+maxPrefix+of.name, a.Limits.at(i)).ReadOnly().Default(0))
	}
	for _, f := range a.SaaS.Fields() {
		f.Name = addedPrefix + f.Name
		set = append(set, f)
	}
	return set
}

// Values are what was added, as fields of a tenant.
func (a *Added) Values() field.Values { return a.fields().Values() }

// With is what is added with one more service.
func (a Added) With(l Limits, s SaaSLimits) Added {
	return Added{Limits: a.Limits.plus(l), SaaS: a.SaaS.plus(s)}
}

// HostingAdds is what a hosting plan adds: its package, or its quotas.
func HostingAdds(pack *Package, quotas map[string]int64) Limits {
	if pack == nil {
		return PackageFrom(quotas)
	}
	allowed := pack.Allows()
	l := allowed
	for i, of := range limits {
		*l.at(i) = allowed.Of(of.name)
	}
	return l
}

// plus adds up two limits. What one has without limit has none.
func (l Limits) plus(other Limits) Limits {
	sum := Limits{most: make([]int64, len(limits))}
	for i := range limits {
		sum.most[i] = sumOf(*l.at(i), *other.at(i))
	}
	return sum
}

func (l SaaSLimits) plus(other SaaSLimits) SaaSLimits {
	return SaaSLimits{
		MaxVMs: sumOf(l.MaxVMs, other.MaxVMs), MaxHostingAccounts: sumOf(l.MaxHostingAccounts, other.MaxHostingAccounts),
		MaxAgents: sumOf(l.MaxAgents, other.MaxAgents), WhiteLabel: l.WhiteLabel || other.WhiteLabel,
	}
}

func sumOf(a, b int64) int64 {
	if a == Unlimited || b == Unlimited {
		return Unlimited
	}
	return a + b
}

// MayHave are the limits of the tenant, given those of its package or its own. A feature
// that its package lacks comes with a service that has added something.
func (t *Tenant) MayHave(own Limits) Limits {
	if !t.counts() {
		own = Limits{}
	}
	if t.Added.any() {
		sum := Limits{most: make([]int64, len(limits))}
		for i, of := range limits {
			sum.most[i] = sumOf(own.Of(of.name), *t.Added.Limits.at(i))
		}
		return sum
	}
	return own
}

// HostsNothing tells whether a tenant of a service was sold nothing that the hosting engine
// has: a virtual server, or room for sub-tenants. Its client is made when a record needs it.
func (t *Tenant) HostsNothing() bool {
	room := t.MayHave(t.Limits)
	return t.MaySaaS() != (SaaSLimits{}) || !slices.ContainsFunc(room.most, func(most int64) bool { return most != 0 })
}

// any tells whether anything was added to the limits.
func (a Added) any() bool {
	return slices.ContainsFunc(a.Limits.most, func(most int64) bool { return most != 0 })
}

// MaySaaS are what the SaaS services of the tenant let it have.
func (t *Tenant) MaySaaS() SaaSLimits {
	if !t.counts() {
		return t.Added.SaaS
	}
	return t.SaaS.plus(t.Added.SaaS)
}

// AtEngine are the values of a tenant with the limits that its package and its services
// set, as the engine gets them.
func AtEngine(tenant, pack field.Values) field.Values {
	LimitsAtEngine(tenant, pack)
	var t Tenant
	if t.Fields().Load(tenant) != nil || t.counts() && !t.Added.any() {
		return tenant
	}
	may := t.MayHave(t.Limits)
	for i, of := range limits {
		tenant[maxPrefix+of.name] = strconv.AppendInt(nil, *may.at(i), 10)
	}
	return tenant
}

// WithoutFirst is the change of a tenant whose first service has ended while another one is
// left: neither its package nor its own limits count any more.
func WithoutFirst() field.Values {
	t := Tenant{First: FirstGone}
	values := append(t.Limits.Fields(), t.SaaS.Fields()...).Values()
	own, _ := t.Fields().Named("first_service")
	values["first_service"], values["package"] = field.Set{own}.Values()["first_service"], []byte("null")
	return values
}

// LimitReached is the refusal of a record that is one too many: "Limit
// reached: sites (5 of 5).". What is counted has the name of its limit.
func LimitReached(name string, used, limit int64) error {
	return &domain.Error{
		Code: domain.Invalid, Field: field.NonField, Reason: "quota_exceeded",
		Message: limitReached(name, used, limit),
	}
}

func limitReached(name string, used, limit int64) string {
	return fmt.Sprintf("Limit reached: %s (%d of %d).", name, used, limit)
}
