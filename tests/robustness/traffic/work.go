package traffic

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/sagas"
	"hostpanel/tests/robustness/faults"
	"hostpanel/tests/robustness/model"
	"hostpanel/tests/robustness/trips"
)

// overslept is how long a worker sleeps that loses its run.
var overslept = trips.Times.Lease + time.Second

// byOperator is the id of what an operator does while a worker is at work.
func (o Operation) byOperator() domain.Metadata {
	return domain.Metadata{ID: uuid.NewSHA1(o.ID, []byte("operator")), Actor: "operator:2"}
}

// workOnEngine claims a run and works on it. It answers with the keys of the runs that
// were claimed: that of the worker, and that of the one who took over meanwhile.
func workOnEngine(ctx context.Context, e *Engine, p *Process, o Operation) ([]string, error) {
	keys := make([]string, 1, 2)
	var failed error
	e.Fault = o.Fault.Striking(func(r sagas.Run) {
		other := e.Procs[1-o.Process]
		switch o.Fault.Sort {
		case faults.Sleeps:
			if failed = e.Pass(ctx, overslept); failed == nil {
				var key string
				key, failed = other.Runner.WorkOne(ctx, o.Queue)
				keys = append(keys, key)
			}
		case faults.Paused:
			_ = other.Runner.Operators.Pause(ctx, o.byOperator(), r.ID(), model.Reason)
		case faults.TakenBack:
			_ = other.Runner.Operators.TakeBack(ctx, o.byOperator(), r.ID(), model.Reason)
		case faults.Released:
			_ = other.Runner.Operators.Release(ctx, o.byOperator(), r.ID(), model.Reason)
		default:
		}
	})
	key, err := p.Runner.WorkOne(ctx, o.Queue)
	keys[0], e.Fault = key, nil
	if o.Fault.Sort == faults.Dies {
		e.Restart(o.Process)
	}
	if err == nil {
		err = failed
	}
	return keys, err
}

// workOnModel does the same in memory.
func workOnModel(m *model.Model, o Operation, claimed []string) (string, error) {
	next := func() (key string) {
		if len(claimed) > 0 {
			key, claimed = claimed[0], claimed[1:]
		}
		return key
	}
	var then string
	own := next()
	m.Fault = o.Fault.Striking(func(r sagas.Run) {
		m.Seen = append(m.Seen, string(o.Fault.Sort)+" "+string(o.Fault.At))
		switch o.Fault.Sort {
		case faults.Sleeps:
			m.Pass(overslept)
			then = " " + m.Work(o.Queue, next())
		case faults.Paused:
			_ = m.Direct(o.byOperator(), r.Key, model.Pause)
		case faults.TakenBack:
			_ = m.Direct(o.byOperator(), r.Key, model.TakeBack)
		case faults.Released:
			_ = m.Release(o.byOperator(), r.Key)
		default:
		}
	})
	key := m.Work(o.Queue, own)
	m.Fault = nil
	return key + then, nil
}
