package sagas

import "sync"

// slots count the runs that this process works on, by queue. How many all processes may
// work on the database decides at each claim and each hand-over.
type slots struct {
	mu     sync.Mutex
	queues map[string]*served
}

// served is one queue that this process serves.
type served struct {
	limit, active, ended int
	left                 bool // others were due at the last claim
	entering             bool // a run is being handed over, one at a time
	woken                chan struct{}
}

// A slot is the place of one worker. It moves when its run goes on in another queue.
type slot struct {
	*slots
	queue string
	from  string // the queue that it leaves, until that is recorded; "": it stays
}

func (s *slots) serve(queue string, limit int, woken chan struct{}) *served {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := &served{limit: limit, woken: woken}
	s.queues[queue] = q
	return q
}

// room is how many more runs of a queue this process may claim, and how many have ended.
func (s *slots) room(q *served) (free, ended int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return q.limit - q.active, q.ended
}

// claimed notes whether others were left at a claim. It tells whether runs have ended
// since.
func (s *slots) claimed(q *served, left bool, ended int) (again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.left = left
	return left && q.ended != ended
}

func (s *slots) take(queue string) *slot {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queues[queue].active++
	return &slot{slots: s, queue: queue}
}

// enter moves the slot to another queue, if that has room here and no other run enters.
// It lasts once it is recorded.
func (t *slot) enter(queue string) bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	q := t.queues[queue]
	if q == nil || q.entering || q.active >= q.limit {
		return false
	}
	q.entering = true
	q.active++
	t.from, t.queue = t.queue, queue
	return true
}

// enters tells whether the slot is about to enter a queue.
func (t *slot) enters(queue string) bool {
	if t == nil {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.from != "" && t.queue == queue
}

// entered ends a move: it is recorded, or it has failed and the slot goes back.
func (t *slot) entered(recorded bool) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.from == "" {
		return
	}
	t.queues[t.queue].entering = false
	if recorded {
		t.queues[t.from].free()
	} else {
		t.queues[t.queue].free()
		t.queue = t.from
	}
	t.from = ""
}

// leave ends the work.
func (t *slot) leave() {
	t.entered(false)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queues[t.queue].free()
}

// free makes room for another run, which matters if some were left.
func (q *served) free() {
	q.active--
	q.ended++
	if q.left {
		nudge(q.woken)
	}
}
