package order_test

import (
	"slices"
	"strings"
	"testing"

	"hostpanel/domain/order"
)

// What is said of a dispute follows from the order, its service and who decides.
func TestADisputeIsToldAsTheOrderStands(t *testing.T) {
	paid := map[string]order.Seen{"pay_1": {ID: "pay_1", State: order.StatePaid, Minor: 299}}
	for _, c := range []struct {
		status order.Status
		off    bool
		seen   order.SeenDispute
		want   string
	}{
		{
			order.StatusActive, true,
			order.SeenDispute{ID: "dp_1", State: order.DisputeOpen, Minor: 299},
			"dispute_open dispute_service_off dispute_by_provider dispute_if_won dispute_if_lost",
		},
		{
			order.StatusActive, false,
			order.SeenDispute{ID: "dp_1", State: order.DisputeOpen, Minor: 299},
			"dispute_open dispute_service_on dispute_by_provider dispute_if_won dispute_if_lost",
		},
		{
			order.StatusFailed, false,
			order.SeenDispute{ID: "operator/1", State: order.DisputeOpen, Minor: 100},
			"dispute_open dispute_service_none dispute_say dispute_if_won dispute_if_lost_part",
		},
		{
			order.StatusRefunded, false,
			order.SeenDispute{ID: "dp_1", State: order.DisputeOpen, Minor: 299},
			"dispute_open dispute_by_provider dispute_refunded",
		},
		{order.StatusRefunded, false, order.SeenDispute{ID: "dp_1", State: order.DisputeWon, Minor: 299}, "dispute_won_refunded"},
		{order.StatusActive, false, order.SeenDispute{ID: "dp_1", State: order.DisputeWon, Minor: 299}, "dispute_won"},
		{
			order.StatusRefunded, false,
			order.SeenDispute{ID: "dp_1", State: order.DisputeLost, Minor: 299},
			"dispute_lost dispute_lost_all",
		},
		{
			order.StatusActive, false,
			order.SeenDispute{ID: "dp_1", State: order.DisputeLost, Minor: 100},
			"dispute_lost dispute_lost_part",
		},
	} {
		c.seen.Payment, c.seen.Currency = "pay_1", "eur"
		o := order.Order{Status: c.status, Payments: paid, Disputes: map[string]order.SeenDispute{c.seen.ID: c.seen}}
		if got := o.DisputeMessage(c.seen, c.off); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s, %s: %v", c.status, c.seen.State, got)
		}
		if got := o.AsksForDispute(); got != strings.Contains(c.want, "dispute_say") {
			t.Errorf("%s, %s: an operator decides: %t", c.status, c.seen.State, got)
		}
	}
}
