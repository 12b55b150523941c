package orders

import (
	"time"

	"hostpanel/sagas"
)

// Times are those of orders that become services, and end.
type Times struct {
	RefundGrace time.Duration // for which a service that has ended is kept
	Look        time.Duration // the longest time between two looks at whether it is over
}

// RefundGrace is how long a service that has ended is kept, unless the setting says otherwise.
const RefundGrace = 7 * 24 * time.Hour

// Policies are how long and how often steps outside are tried.
type Policies struct {
	Engine  sagas.Policy // a call that makes something
	Ready   sagas.Policy // the wait until the engine has carried it out
	Machine sagas.Policy // the wait until a machine runs
}
