package hosting_test

import (
	"net/http"
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
)

// Operators see how full nodes and address pools are.
func TestTheNodesAndHowFullTheyAre(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	s.Resident(t, 901, paneltest.OpMail, "en", true)
	b := s.Browser(t).Enter(paneltest.OpMail)
	empty := b.Get("/storefront/nodes/")
	paneltest.Has(t, empty.Body.String(), "There are no nodes")
	s.Do(t, paneltest.Node(1, "alpha"), paneltest.Node(2, "beta", func(n *hosting.Node) { n.IsDrained = true }),
		paneltest.AddressPool(1, "blue", "192.0.2.0/24"))
	s.Order(t, http.StatusCreated, paneltest.VPSOrder("ana@example.com"))
	page := b.Get("/storefront/nodes/").Body.String()
	for _, want := range []string{
		"alpha", "Machines: 1", "Cores: 1 / 32", "Memory: 1024 / 65536 MB", "beta", "Drained", "192.0.2.0/24", "Addresses given: 1",
	} {
		paneltest.Has(t, page, want)
	}
}
