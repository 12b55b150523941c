package hosting

import "hostpanel/domain/field"

const (
	noQuota  = -1
	mostMB   = 10 << 20 // ten terabytes
	tooSmall = 1
)

// quotaMB is how much storage a part of a tenant may take: -1 is without
// bounds, which only tenants without bounds may give.
func quotaMB(at *int64, preset int64) field.Field {
	return field.Int("quota_mb", at).Between(tooSmall, mostMB).Or(noQuota).Default(preset).
		Doc("Megabytes; -1 is without limit, and not for tenants whose storage has one.")
}

// completeQuota bounds what was left out where the tenant's storage is bounded.
func completeQuota(quota *int64, p Place) {
	if p.New() && !p.Sent.Has("quota_mb") && *quota == noQuota && p.Limits.Of(StorageMB) != Unlimited {
		*quota = min(max(p.Limits.Of(StorageMB), tooSmall), mostMB)
	}
}

func checkQuota(quota int64, p Place, wrong *field.Errors) {
	if p.Sent.Has("quota_mb") && quota == noQuota && p.Limits.Of(StorageMB) != Unlimited {
		wrong.Add("quota_mb", field.TooSmall(tooSmall))
	}
}
