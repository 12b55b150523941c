package accounts_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/sagas/sagastest"
)

// contactAt is all that the engine has of a resource's contact.
func contactAt(h *sagastest.Household, kind, name string) string {
	h.T.Helper()
	text, err := json.Marshal(h.Has(kind, name).Values)
	h.Must(err)
	return string(text)
}

// The tenant whose contact is the erased person gets neutral contact data at the
// engine, and so do its zones. Other tenants keep theirs.
func TestAnErasureTakesTheContactFromTheEngine(t *testing.T) {
	t.Parallel()
	h := &sagastest.Household{World: sagastest.NewWorld(t)}
	h.Opens(1, "root@example.com", "en")
	h.Opens(2, "ana@example.com", "es")
	ana, other := h.Draw("tenant"), h.Draw("tenant")
	h.Tenant = ana
	for id, subject := range map[int64]uuid.UUID{
		ana:   sagastest.MustSubject(h.World, "ana@example.com"),
		other: sagastest.MustSubject(h.World, "bo@example.com"),
	} {
		request := h.NewTenant(id)
		request.Subject = subject
		h.Carry(request)
	}
	zone := h.Ask(
		h.Draw("dns_zone"),
		&hosting.DNSZone{Origin: "ana.example.", NSPrimary: "ns1.example.", AdminEmail: "ana.example.com.", TTL: 3600, IsActive: true},
	)
	zone.Subject = sagastest.MustSubject(h.World, "ana@example.com")
	h.Carry(zone)
	h.Goes()
	h.Stands(zone.Ref, hosting.Running)
	h.Quiet()
	name := hosting.CustomerNumber(ana)
	if before := contactAt(h, "tenant", name); !strings.Contains(before, "ana@example.com") {
		t.Fatalf("the engine has %s", before)
	}
	h.Must(h.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, 2))
	h.Quiet()
	for _, left := range []string{contactAt(h, "tenant", name), contactAt(h, "dns_zone", "ana.example.")} {
		if strings.Contains(left, "Ana") || strings.Contains(left, "ana@example.com") || strings.Contains(left, "ana.example.com") {
			t.Errorf("the engine still has %s", left)
		}
	}
	pushes := `select count(*) from events where name = 'hosting.push_requested'`
	pushed := h.Count(pushes)
	h.Must(h.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, 2))
	h.Equal("pushes, also after a second erasure", []int64{int64(pushed), int64(h.Count(pushes))}, []int64{2, 2})
	h.Equal("sync of the tenant", h.Resource(hosting.Ref{Kind: "tenant", ID: ana}).SyncStatus, "synced")
	if kept := contactAt(h, "tenant", hosting.CustomerNumber(other)); !strings.Contains(kept, "ana@example.com") {
		t.Errorf("another tenant lost its contact: %s", kept)
	}
}
