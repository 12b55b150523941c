package ispconfig

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
)

// The engine writes each change into a journal, which its servers carry out. The
// journal is read forward, each job once: it has no pages, and only what is
// newer than a job can be asked for.
const (
	journalSlack  = 300 * time.Second // between our clock and the engine's
	journalWindow = 30 * time.Minute  // read at the start, and after as long a silence
	journalKept   = 20_000            // jobs that are remembered
)

// A job is one change in the journal.
type job struct {
	id, server int64
	told       row  // of what is written: what the servers are told
	readable   bool // otherwise what they are told is not known
}

// A journal is what is known of the engine's.
type journal struct {
	api    *connection
	turn   chan struct{}
	grew   time.Time // when it was last seen to grow, or was begun
	newest int64     // the last job that has been read; 0: none
	first  int64     // what came before is not known
	jobs   []job     // in their order; without what they tell
	last   map[string]job
	judged map[int64]bool // jobs that were carried out: whether the server refused them
}

func newJournal(to *connection) *journal {
	return &journal{api: to, turn: make(chan struct{}, 1)}
}

func rowKey(table string, number int64) string { return table + ":" + decimal(number) }

// follow reads what has come since it was read last. It is called before the
// first write, too: then the job of every write is newer than what is known.
func (j *journal) follow(ctx context.Context) error {
	if err := j.take(ctx); err != nil {
		return err
	}
	defer j.leave()
	if j.newest == 0 || j.api.Now().Sub(j.grew) >= journalWindow {
		return j.begin(ctx)
	}
	found, err := j.entries(ctx, "sys_datalog_get", members{{"datalog_id", j.newest + 1}, {"newer", true}})
	if errors.Is(err, errTooLong) {
		return j.begin(ctx)
	}
	if err == nil {
		j.add(found)
	}
	return err
}

func (j *journal) take(ctx context.Context) error {
	select {
	case j.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return domain.Fail(domain.Transient, "engine_busy", fmt.Errorf("wait for the journal: %w", ctx.Err()))
	}
}

func (j *journal) leave() { <-j.turn }

var jobColumns = []string{"datalog_id", "server_id", "dbtable", "dbidx", "data"}

func (j *journal) entries(ctx context.Context, function string, arguments members) ([]row, error) {
	return j.api.rows(ctx, function, arguments, jobColumns)
}

// begin reads the last half hour, or as much of it as one answer can hold.
func (j *journal) begin(ctx context.Context) error {
	now := j.api.Now()
	from, until := now.Add(-journalWindow-journalSlack), now.Add(journalSlack)
	found, err := j.since(ctx, from)
	for errors.Is(err, errTooLong) && until.Sub(from) > time.Second {
		nearer := from.Add(until.Sub(from) * 3 / 4)
		if found, err = j.since(ctx, nearer); err == nil && len(found) == 0 {
			until, err = nearer, errTooLong // later than the engine's last job
		} else {
			from = nearer
		}
	}
	if err != nil {
		return err
	}
	j.newest, j.first, j.grew, j.jobs, j.last, j.judged = 0, 0, now, nil, map[string]job{}, map[int64]bool{}
	j.add(found)
	return nil
}

func (j *journal) since(ctx context.Context, at time.Time) ([]row, error) {
	return j.entries(ctx, "sys_datalog_get_by_tstamp", members{{"tstamp", at.Unix()}})
}

// add takes over jobs, which come newest first.
func (j *journal) add(found []row) {
	for i := len(found) - 1; i >= 0; i-- {
		one := job{id: found[i].number("datalog_id"), server: found[i].number("server_id")}
		if one.id <= j.newest {
			continue
		}
		if j.first == 0 {
			j.first = one.id
		}
		j.newest, j.grew = one.id, j.api.Now()
		j.jobs = append(j.jobs, one)
		if key := one.about(found[i]); key != "" {
			j.last[key] = one
		}
	}
	if len(j.jobs) > journalKept {
		j.forget(len(j.jobs) - journalKept/2)
	}
}

// about tells the row of a job, and learns what the servers are told of it. The
// job of a new row does not name its number, except in what it carries.
func (o *job) about(found row) string {
	column, number, _ := strings.Cut(found["dbidx"], ":")
	carried, readable := newRow(found["data"])
	if number == "" {
		number = carried[column]
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return ""
	}
	o.told, o.readable = row{}, readable
	for _, r := range resources {
		if r.table != found["dbtable"] {
			continue
		}
		for _, c := range r.told() {
			o.told[c] = carried[c]
		}
	}
	return rowKey(found["dbtable"], n)
}

// told are the columns of which the servers have to know the present value:
// those that an update sends, without the secrets.
func (r *resource) told() (names []string) {
	for _, c := range r.columns {
		if c.changes && c.secret == nil {
			names = append(names, c.name)
		}
	}
	return names
}

// forget drops the oldest jobs.
func (j *journal) forget(count int) {
	j.jobs = append([]job(nil), j.jobs[count:]...)
	j.first = j.jobs[0].id
	for key, one := range j.last {
		if one.id < j.first {
			delete(j.last, key)
		}
	}
	for id := range j.judged {
		if id < j.first {
			delete(j.judged, id)
		}
	}
}
