package notices_test

import (
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/domain/webhook"
	"hostpanel/projections"
	"hostpanel/sagas/sagastest"
)

func TestATenantThatIsGoneLeavesNoEndpointsBehind(t *testing.T) {
	t.Parallel()
	w, _ := sagastest.ListeningWorld(t)
	tenant := w.Tenant(17, 5)
	sagastest.Listens(w, 1, 17)
	sagastest.Listens(w, 2, 17, "site.*")
	sagastest.Listens(w, 3, 18)
	w.Goes()
	w.Asks(hosting.Remove{Ref: tenant}, hosting.Confirm{Ref: tenant})
	w.Eventually("the endpoints of the tenant are removed", func() bool {
		return w.Count(`select count(*) from webhook_endpoints where tenant = 17`) == 0
	})
	w.Equal("secrets that are left", w.Count(`select count(*) from endpoint_secrets where endpoint in (1, 2)`), 0)
	w.Equal("keys of addresses that are left", w.Count(`select count(*) from subject_keys where subject = any($1) and wrapped <> ''`,
		[]any{webhook.Subject(1), webhook.Subject(2)}), 0)
	left, err := w.Tables.For(projections.System).Notices().Listening(t.Context(), 18)
	w.Must(err)
	w.Equal("endpoints of another tenant", len(left), 1)
	if _, err := w.Vault().EndpointSecrets(t.Context(), 3); err != nil {
		t.Error(err)
	}
}
