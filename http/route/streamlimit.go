package route

import (
	"context"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// streamsAtOnce is how many streams one process has open at most.
const streamsAtOnce = 5000

var (
	tooManyStreams = &Refusal{
		Status: http.StatusTooManyRequests, Code: "too_many_streams", After: 30 * time.Second,
		Detail: "Too many streams are open.",
	}
	noMoreStreams = &Refusal{
		Status: http.StatusServiceUnavailable, Code: "unavailable", After: 30 * time.Second,
		Detail: "The service is temporarily unavailable.",
	}
)

// An audience is who has streams open.
type audience struct {
	most     int           // streams
	sentHome chan struct{} // closed when the program stops
	once     sync.Once

	mu     sync.Mutex
	all    int
	open   sync.WaitGroup
	isOver bool
	of     map[string]int // by caller, and by address
}

func newAudience(most int) *audience {
	if most == 0 {
		most = streamsAtOnce
	}
	return &audience{most: most, sentHome: make(chan struct{}), of: map[string]int{}}
}

// enter counts a stream in, unless there are too many.
func (a *audience) enter(x *exchange) (leave func(), err error) {
	bounds := x.route.bounds(&x.call)
	a.mu.Lock()
	defer a.mu.Unlock()
	for who, most := range bounds {
		if a.of[who] >= most {
			return nil, tooManyStreams
		}
	}
	if a.all == a.most {
		return nil, noMoreStreams
	}
	a.count(1, bounds)
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.count(-1, bounds)
	}, nil
}

// enterSocket is enter for a WebSocket, for which the end of the program waits.
func (a *audience) enterSocket(x *exchange) (func(), error) {
	leave, err := a.enter(x)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	over := a.isOver
	if !over {
		a.open.Add(1)
	}
	a.mu.Unlock()
	if over {
		leave()
		return nil, noMoreStreams
	}
	return func() { leave(); a.open.Done() }, nil
}

// bounds are how many streams may be open of those whom a call counts for.
func (r *Route) bounds(c *Call) map[string]int {
	all := map[string]int{}
	if r.perRoute > 0 {
		all["route "+r.Path] = r.perRoute
	}
	if r.perCaller > 0 {
		all["caller "+c.Caller.Principal] = r.perCaller
	}
	if r.perAddress > 0 {
		all["address "+household(c.IP)] = r.perAddress
	}
	return all
}

func (a *audience) count(n int, whom map[string]int) {
	a.all += n
	for w := range whom {
		if a.of[w] += n; a.of[w] == 0 {
			delete(a.of, w)
		}
	}
}

// household is what an address counts as: the holder of one IPv6 address has
// many.
func household(ip netip.Addr) string {
	if ip.Is4() {
		return ip.String()
	}
	network, err := ip.Prefix(64)
	if err != nil {
		return "" // not a connection by IP
	}
	return network.String()
}

// Streams is how many answers are open that do not end.
func (t *Table) Streams() int {
	t.audience.mu.Lock()
	defer t.audience.mu.Unlock()
	return t.audience.all
}

// EndStreams ends all answers that do not end by themselves, for good.
// Clients come back, to another process or to the next one.
func (t *Table) EndStreams() {
	t.audience.once.Do(func() {
		t.audience.mu.Lock()
		defer t.audience.mu.Unlock()
		t.audience.isOver = true
		close(t.audience.sentHome)
	})
}

// AwaitSockets waits until all WebSockets have ended, or ctx has: a server that stops waits
// for none.
func (t *Table) AwaitSockets(ctx context.Context) error {
	ended := make(chan struct{})
	go func() { t.audience.open.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
