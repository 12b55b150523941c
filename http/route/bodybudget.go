package route

import (
	"io"
	"sync/atomic"
)

// Bodies are bounded in three ways, so that no caller can fill the memory: each
// by its route, their values by [field.Parse], and all that are in memory at a
// time by a budget (docs/security.md, "Memory").
const (
	budgetUsual = 32 << 20 // bytes of all bodies at a time
	budgetFree  = openMax  // bytes of each body that do not count
)

// A bodyBudget is what is left for bodies of calls that are not answered yet.
type bodyBudget struct{ left atomic.Int64 }

func newBodyBudget(bytes int64) *bodyBudget {
	if bytes == 0 {
		bytes = budgetUsual
	}
	b := &bodyBudget{}
	b.left.Store(bytes)
	return b
}

// take reports whether there was room.
func (b *bodyBudget) take(n int64) bool {
	if b.left.Add(-n) >= 0 {
		return true
	}
	b.left.Add(n)
	return false
}

// A metered body takes its bytes from the budget as they arrive. A sender that
// is slow holds no more than it has sent.
type metered struct {
	io.Reader
	x    *exchange
	read int64
}

func (m *metered) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.read += int64(n)
	more := max(m.read-budgetFree, 0) - m.x.held
	if more > 0 && !m.x.t.budget.take(more) {
		return 0, unavailable
	}
	m.x.held += max(more, 0)
	return n, err
}

// letGo returns what the body of the call has taken.
func (x *exchange) letGo() { x.t.budget.left.Add(x.held) }
