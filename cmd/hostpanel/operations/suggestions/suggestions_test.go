package suggestions

import (
	"bytes"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain/order"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// An operator who looks at a stopped order is told the command that lets it go
// on.
func TestAStoppedOrderNamesTheCommandThatLetsItGoOn(t *testing.T) {
	const decided = `hostpanel orders dispute --outcome won ORD-1 --reason "…" | hostpanel orders dispute --outcome lost ORD-1 --reason "…"`
	parked := []sagas.RunView{{Key: "deprovision:1", Status: "parked"}, {Key: "mail:1", Status: "waiting"}}
	for _, c := range []struct {
		order projections.Order
		runs  []sagas.RunView
		want  string
		open  string // id of a dispute
	}{
		{projections.Order{Status: order.StatusActive}, nil, "", ""},
		{projections.Order{Status: order.StatusFailed}, parked, `hostpanel orders retry ORD-1 --reason "…"`, ""},
		{projections.Order{Status: order.StatusActive}, parked, `hostpanel runs retry deprovision:1 --reason "…"`, ""},
		{
			projections.Order{Status: order.StatusPending, Holds: []order.Hold{order.MismatchHold}},
			nil,
			`hostpanel orders accept ORD-1 --reason "…" | hostpanel orders refund ORD-1 --reason "…"`, "",
		},
		{
			projections.Order{Status: order.StatusActive, Holds: []order.Hold{order.RefundHold}},
			nil,
			`hostpanel orders refund ORD-1 --reason "…"`, "",
		},
		{
			projections.Order{Status: order.StatusFailed, Holds: []order.Hold{order.OperatorHold}},
			nil,
			`hostpanel orders retry ORD-1 --reason "…" | hostpanel orders refund ORD-1 --reason "…"`, "",
		},
		{
			projections.Order{Status: order.StatusActive, Holds: []order.Hold{order.OperatorHold}}, // its service has ended
			nil,
			`hostpanel orders refund ORD-1 --reason "…" | hostpanel orders accept ORD-1 --reason "…"`, "",
		},
		{projections.Order{Status: order.StatusActive, Holds: []order.Hold{order.DuplicateHold}}, nil, "", ""},
		{projections.Order{Status: order.StatusActive, Holds: []order.Hold{order.DisputeHold}}, nil, decided, ""},
		{projections.Order{Status: order.StatusActive, Holds: []order.Hold{order.DisputeHold}}, nil, decided, "operator/1"},
		// the provider tells
		{projections.Order{Status: order.StatusActive, Holds: []order.Hold{order.DisputeHold}}, nil, "", "dp_1"},
	} {
		c.order.OrderNumber = "ORD-1"
		var disputes []order.SeenDispute
		if c.open != "" {
			disputes = []order.SeenDispute{{ID: c.open, State: order.DisputeOpen}}
		}
		commands := For(c.order, c.runs, disputes)
		if got := strings.Join(commands, " | "); got != c.want {
			t.Errorf("%s %v: %s instead of %s", c.order.Status, c.order.Holds, got, c.want)
		}
		var out bytes.Buffer
		Print(console.Console{Out: &out, Err: &out}, commands)
		if told := out.Len() > 0; told != (c.want != "") {
			t.Errorf("it prints %q", out.String())
		}
	}
}
