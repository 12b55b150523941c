package traffic

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"hostpanel/sagas"
	"hostpanel/tests/robustness/faults"
	"hostpanel/tests/robustness/model"
	"hostpanel/tests/robustness/trips"
)

// A Generator draws operations. It looks at the model, so that most of them do something.
type Generator struct {
	*rand.Rand
	m     *model.Model
	trips int
	lined int         // trips that have a line: two each
	names []string    // of trips
	past  []Operation // commands that may be repeated

	webhooks int
	failing  int // handlings of webhooks that fail from now on
}

// NewGenerator draws the operations of a seed.
func NewGenerator(seed uint64, m *model.Model) *Generator {
	return &Generator{Rand: rand.New(rand.NewPCG(seed, 0)), m: m}
}

func (g *Generator) uuid() (id uuid.UUID) {
	for i := range id {
		id[i] = byte(g.IntN(256))
	}
	return id
}

func pick[T any](g *Generator, from ...T) T { return from[g.IntN(len(from))] }

// draws are the kinds of operations, each as often as its weight.
var draws = []struct {
	weight int
	kind   string
	fill   func(*Generator, *Operation)
}{
	{60, "work", (*Generator).work},
	{10, "start", (*Generator).start},
	{5, "execute", (*Generator).execute},
	{2, "repeat", (*Generator).repeat},
	{2, "expect", (*Generator).expect},
	{2, "append", (*Generator).expect},
	{3, "gate", (*Generator).gate},
	{5, "retry", (*Generator).retry},
	{4, "skip", (*Generator).skip},
	{2, "pause", (*Generator).run},
	{4, "continue", (*Generator).run},
	{2, "take back", (*Generator).run},
	{2, "release", (*Generator).run},
	{2, "pass", (*Generator).run},
	{3, "queue", (*Generator).queue},
	{5, "time", (*Generator).time},
	{3, "clock", (*Generator).time},
	{2, "lose", func(g *Generator, o *Operation) {
		o.Label = pick(g, append(slices.Sorted(maps.Keys(g.m.Outside.Boxes)), "none")...)
	}},
	{2, "order", (*Generator).order},
	{4, "webhook", (*Generator).webhook},
	{5, "inbox", (*Generator).inbox},
	{1, "restart", func(*Generator, *Operation) {}},
}

// Next is the next operation.
func (g *Generator) Next() Operation {
	all := 0
	for _, d := range draws {
		all += d.weight
	}
	n := g.IntN(all)
	for _, d := range draws {
		if n -= d.weight; n >= 0 {
			continue
		}
		o := Operation{Kind: d.kind, Process: g.IntN(2), ID: g.uuid()}
		d.fill(g, &o)
		return o
	}
	panic("unreachable")
}

// label is a name of few.
func (g *Generator) label() string { return fmt.Sprintf("b%02d", g.IntN(40)) }

// trouble is the subject of an incident.
func (g *Generator) trouble() string { return fmt.Sprintf("trouble %d", g.IntN(6)) }

func (g *Generator) answers() (all []trips.Answer) {
	for range g.IntN(5) {
		a := trips.Fine
		if g.IntN(3) == 0 {
			a = pick(g, trips.Answers...)
		}
		all = append(all, a)
	}
	return all
}

// due are the queues that have work.
func (g *Generator) due() (queues []string) {
	for _, q := range slices.Sorted(maps.Keys(model.Queues)) {
		if len(g.m.Due(q)) > 0 {
			queues = append(queues, q)
		}
	}
	return queues
}

func (g *Generator) work(o *Operation) {
	queues := g.due()
	if len(queues) == 0 && g.IntN(8) > 0 {
		o.Kind = pick(g, "time", "clock")
		g.time(o)
		return
	}
	if len(queues) == 0 || g.IntN(30) == 0 {
		queues = slices.Sorted(maps.Keys(model.Queues))
	}
	o.Queue, o.Answers = pick(g, queues...), g.answers()
	points := faults.Points
	if o.Queue == sagas.LocalQueue {
		points = faults.PointsOfOurOwn
	}
	if g.IntN(3) == 0 {
		o.Fault = faults.Fault{Sort: pick(g, faults.Sorts...), At: pick(g, points...), Nth: g.IntN(2) * g.IntN(2)}
	}
}

func (g *Generator) start(o *Operation) {
	g.trips++
	o.Name, o.Label, o.Gate = fmt.Sprintf("trip%d", g.trips), g.label(), g.IntN(4)
	if g.IntN(10) == 0 {
		o.Name = pick(g, append(g.names, o.Name)...)
	}
	for _, s := range trips.Steps {
		if g.IntN(4) > 0 || s.Name == "make" && g.IntN(2) > 0 {
			o.Steps = append(o.Steps, s.Name)
		}
	}
	g.names = append(g.names, o.Name)
	if o.Joins = g.IntN(2) == 0; o.Joins && g.IntN(8) == 0 {
		o.Steps = []string{"note", "open"}
	}
	if g.IntN(3) == 0 {
		o.Line, o.Nth = 1+g.lined/2, 1+g.lined%2
		g.lined++
	}
	if second := o.Nth == 2 && !slices.Contains(o.Steps, "note"); second || len(o.Steps) == 0 {
		o.Steps = append([]string{"note"}, o.Steps...)
	}
}

func (g *Generator) execute(o *Operation) {
	o.Name = g.trouble()
	o.Text = pick(
		g, "report", "report", "settle", "nonsense", "ignore", "adopt", "remake", "report second", "second nonsense",
		"report settle",
	)
	if g.IntN(4) == 0 {
		g.trips++
		o.Text, o.Label = "report", fmt.Sprintf("trip%d", g.trips-g.IntN(3))
	}
	g.past = append(g.past, *o)
}

func (g *Generator) repeat(o *Operation) {
	if len(g.past) == 0 {
		g.execute(o)
		return
	}
	process := o.Process
	*o = pick(g, g.past...)
	o.Kind, o.Process = "repeat", process
}

func (g *Generator) expect(o *Operation) {
	o.Name, o.Text = g.trouble(), pick(g, "report", "settle", "ignore")
	o.Version = max(0, g.m.Version(o.stream())-g.IntN(3)/2)
}

func (g *Generator) gate(o *Operation) { o.Gate, o.Text = g.IntN(4), pick(g, "open", "close") }

// runs are the keys of all runs, those that are stopped if there are any.
func (g *Generator) runs(status ...sagas.Status) (keys []string) {
	for _, w := range g.m.Runs {
		if len(status) == 0 || slices.Contains(status, w.Run.Status) {
			keys = append(keys, w.Run.Key)
		}
	}
	slices.Sort(keys)
	return keys
}

func (g *Generator) run(o *Operation) {
	keys := g.runs()
	if live := g.runs(sagas.StatusReady, sagas.StatusPaused, sagas.StatusParked); len(live) > 0 && g.IntN(4) > 0 {
		keys = live
	}
	if paused := g.runs(sagas.StatusPaused); o.Kind == "continue" && len(paused) > 0 && g.IntN(3) > 0 {
		keys = paused
	}
	if o.Key = "trip:unknown"; len(keys) > 0 && g.IntN(20) > 0 {
		o.Key = pick(g, keys...)
	}
}

func (g *Generator) stopped(o *Operation) {
	g.run(o)
	if parked := g.runs(sagas.StatusParked); len(parked) > 0 && g.IntN(5) > 0 {
		o.Key = pick(g, parked...)
	}
}

func (g *Generator) retry(o *Operation) {
	g.stopped(o)
	if g.IntN(3) == 0 {
		o.Label = g.label()
	}
}

func (g *Generator) skip(o *Operation) {
	g.stopped(o)
	o.Answers = g.answers()
	run := g.m.Run(o.Key)
	if o.Name = pick(g, trips.Steps...).Name; run.Key != "" && g.IntN(5) > 0 {
		o.Name = run.At().Name
	}
	switch {
	case g.IntN(4) == 0:
		o.Text = pick(g, "wrong", "")
	case o.Name == "pay":
		o.Text = g.m.Outside.Paid["t/"+strings.TrimPrefix(o.Key, "trip:")+"/pay"]
	default:
		o.Text = g.m.Outside.Boxes[model.LabelOf(run)].ID
	}
}

func (g *Generator) queue(o *Operation) {
	o.Queue = pick(g, slices.Sorted(maps.Keys(model.Queues))...)
	o.Most, o.Paused = 1+g.IntN(4), g.IntN(4) == 0
	if g.IntN(6) == 0 {
		o.Most = 0
	}
}

func (g *Generator) time(o *Operation) {
	o.For = pick(g, time.Second, 5*time.Second, 30*time.Second, 2*time.Minute, 20*time.Minute, 2*time.Hour, 25*time.Hour)
}
