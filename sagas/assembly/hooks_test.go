package assembly_test

import (
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/domain/webhook"
	"hostpanel/projections"
)

func TestATenantThatIsGoneLeavesNoEndpointsBehind(t *testing.T) {
	t.Parallel()
	w, _ := listeningWorld(t)
	tenant := w.tenant(17, 5)
	w.listens(1, 17)
	w.listens(2, 17, "site.*")
	w.listens(3, 18)
	w.goes()
	w.asks(hosting.Remove{Ref: tenant}, hosting.Confirm{Ref: tenant})
	w.eventually("the endpoints of the tenant are removed", func() bool {
		return w.count(`select count(*) from webhook_endpoints where tenant = 17`) == 0
	})
	w.equal("secrets that are left", w.count(`select count(*) from endpoint_secrets where endpoint in (1, 2)`), 0)
	w.equal("keys of addresses that are left", w.count(`select count(*) from subject_keys where subject = any($1) and wrapped <> ''`,
		[]any{webhook.Subject(1), webhook.Subject(2)}), 0)
	left, err := w.tables.For(projections.System).Listening(t.Context(), 18)
	w.must(err)
	w.equal("endpoints of another tenant", len(left), 1)
	if _, err := w.vault().EndpointSecrets(t.Context(), 3); err != nil {
		t.Error(err)
	}
}
