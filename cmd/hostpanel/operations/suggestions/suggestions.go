// Package suggestions names the commands that let a stopped order go on (docs/operations.md, "An
// order on hold").
package suggestions

import (
	"fmt"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain/order"
	"hostpanel/projections"
	"hostpanel/sagas"
)

// forHold are the commands that answer a hold (docs/operations.md, "An order on
// hold").
var forHold = map[order.Hold][]string{
	order.MismatchHold: {"accept", "refund"},
	order.RefundHold:   {"refund"},
	order.OperatorHold: {"retry", "refund"},
}

// For are the commands that let a stopped order go on, or answer what stopped
// it; none for an order that goes on by itself.
func For(o projections.Order, runs []sagas.RunView, disputes []order.SeenDispute) (commands []string) {
	for _, hold := range o.Holds {
		if hold == order.DisputeHold {
			commands = append(commands, decide(o, disputes)...)
		}
		verbs := forHold[hold]
		if hold == order.OperatorHold && o.Status == order.StatusActive { // its service has ended
			verbs = []string{"refund", "accept"}
		}
		for _, verb := range verbs {
			commands = append(commands, forOrder(verb, o))
		}
	}
	if o.Status == order.StatusFailed {
		commands = append(commands, forOrder("retry", o))
	}
	for _, r := range runs {
		if r.Status == "parked" && o.Status != order.StatusFailed {
			commands = append(commands, fmt.Sprintf(`hostpanel runs retry %s --reason "…"`, r.Key))
		}
	}
	return unique(commands)
}

// decide are the commands that say how a dispute has ended. One that the provider
// names is read from there, so there is nothing to say.
func decide(o projections.Order, disputes []order.SeenDispute) []string {
	for _, d := range disputes {
		if d.State == order.DisputeOpen && !d.ByOperator() {
			return nil
		}
	}
	return []string{forOrder("dispute --outcome won", o), forOrder("dispute --outcome lost", o)}
}

func forOrder(verb string, o projections.Order) string {
	return fmt.Sprintf(`hostpanel orders %s %s --reason "…"`, verb, o.OrderNumber)
}

func unique(all []string) (out []string) {
	known := map[string]bool{}
	for _, one := range all {
		if !known[one] {
			known[one], out = true, append(out, one)
		}
	}
	return out
}

// Print prints them below the order.
func Print(c console.Console, commands []string) {
	if len(commands) == 0 {
		return
	}
	fmt.Fprintf(c.Out, "\nIt waits for an operator. When the cause is gone:\n\n")
	for _, command := range commands {
		fmt.Fprintf(c.Out, "  %s\n", command)
	}
}
