package assembly_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// contactAt is all that the engine has of a resource's contact.
func (h *household) contactAt(kind, name string) string {
	h.t.Helper()
	text, err := json.Marshal(h.has(kind, name).Values)
	h.must(err)
	return string(text)
}

// The tenant whose contact is the erased person gets neutral contact data at the
// engine, and so do its zones. Other tenants keep theirs.
func TestAnErasureTakesTheContactFromTheEngine(t *testing.T) {
	t.Parallel()
	h := &household{world: newWorld(t)}
	h.opens(1, "root@example.com", "en")
	h.opens(2, "ana@example.com", "es")
	ana, other := h.draw("tenant"), h.draw("tenant")
	h.tenant = ana
	for id, subject := range map[int64]uuid.UUID{ana: mustSubject(h.world, "ana@example.com"), other: mustSubject(h.world, "bo@example.com")} {
		request := h.newTenant(id)
		request.Subject = subject
		h.carry(request)
	}
	zone := h.ask(h.draw("dns_zone"), &hosting.DNSZone{Origin: "ana.example.", NSPrimary: "ns1.example.", AdminEmail: "ana.example.com.", TTL: 3600, IsActive: true})
	zone.Subject = mustSubject(h.world, "ana@example.com")
	h.carry(zone)
	h.goes()
	h.stands(zone.Ref, hosting.Running)
	h.quiet()
	name := hosting.CustomerNumber(ana)
	if before := h.contactAt("tenant", name); !strings.Contains(before, "ana@example.com") {
		t.Fatalf("the engine has %s", before)
	}
	h.must(h.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, 2))
	h.quiet()
	for _, left := range []string{h.contactAt("tenant", name), h.contactAt("dns_zone", "ana.example.")} {
		if strings.Contains(left, "Ana") || strings.Contains(left, "ana@example.com") || strings.Contains(left, "ana.example.com") {
			t.Errorf("the engine still has %s", left)
		}
	}
	pushes := `select count(*) from events where name = 'hosting.push_requested'`
	pushed := h.count(pushes)
	h.must(h.Accounts.Erase(t.Context(), domain.Metadata{Actor: "operator:1"}, 2))
	h.equal("pushes, also after a second erasure", []int64{int64(pushed), int64(h.count(pushes))}, []int64{2, 2})
	h.equal("sync of the tenant", h.resource(hosting.Ref{Kind: "tenant", ID: ana}).SyncStatus, "synced")
	if kept := h.contactAt("tenant", hosting.CustomerNumber(other)); !strings.Contains(kept, "ana@example.com") {
		t.Errorf("another tenant lost its contact: %s", kept)
	}
}
