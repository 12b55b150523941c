package sagastest

import (
	"fmt"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// Purge lets a tenant with so many records be terminated, and be purged with all of them.
func Purge(t *testing.T, records int) {
	t.Helper()
	clock := &TestClock{At: time.Now()}
	h := NewHousehold(t, ByHand(clock.Now))
	s, z := h.Ask(h.Draw("site"), Site("example.com")), h.Ask(
		h.Draw("dns_zone"), &hosting.DNSZone{Origin: "example.com.", TTL: 3600, IsActive: true},
	)
	var commands []domain.Command
	for i := range records {
		commands = append(
			commands,
			h.Ask(
				h.Draw("dns_record"),
				&hosting.DNSRecord{
					Zone: z.ID, ZoneOrigin: "example.com.", Type: "A", Name: fmt.Sprintf("h%d", i), Data: "192.0.2.1",
					TTL: 60, IsActive: true,
				},
			),
		)
	}
	h.Carry(append([]domain.Command{s, z}, commands...)...)
	h.Goes()
	h.Eventually("all is there", func() bool { return len(h.Engine.All()) == records+3 })
	tenant := hosting.Ref{Kind: "tenant", ID: h.Tenant}
	h.Carry(hosting.Disable{Ref: s.Ref, By: hosting.BySite}, hosting.MoveToBin{Ref: tenant})
	h.Quiet()
	clock.Pass(31 * Day)
	h.Stands(tenant, hosting.Gone)
	h.Quiet()
	h.Equal("left at the engine", len(h.Engine.All()), 0)
}
