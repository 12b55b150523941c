package orders_test

import (
	"slices"
	"strings"
	"testing"

	"hostpanel/sagas/orders"
)

// The list of an order follows from what was bought, and from whether its tenant is there.
func TestAnOrderHasTheStepsOfWhatWasBought(t *testing.T) {
	const rest = " billing welcome activate"
	for _, c := range []struct {
		resourceType          string
		domain, joins, chosen bool
		steps                 string
	}{
		{"hosting", false, false, false, "account tenant tenant.engine tenant.ready" + rest},
		{"hosting", true, false, false, "account tenant tenant.engine tenant.ready site site.ready" + rest},
		{"vps", false, false, false, "account tenant vm vm.ready" + rest},
		{"vps", true, false, false, "account tenant vm vm.ready" + rest},
		{"saas", false, false, false, "account tenant" + rest},

		{"hosting", false, true, false, "tenant tenant.ready" + rest},
		{"hosting", true, true, false, "tenant tenant.ready site site.ready" + rest},
		{"vps", false, true, false, "tenant vm vm.ready" + rest},
		{"saas", false, true, false, "tenant" + rest},

		{"hosting", false, true, true, "tenant tenant.engine tenant.ready" + rest},
		{"hosting", true, true, true, "tenant tenant.engine tenant.ready site site.ready" + rest},
		{"vps", false, true, true, "tenant vm vm.ready" + rest},
		{"saas", false, true, true, "tenant" + rest},
	} {
		if got := orders.ProvisionSteps(c.resourceType, c.domain, c.joins, c.chosen); !slices.Equal(got, strings.Fields(c.steps)) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
