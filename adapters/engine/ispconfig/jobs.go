package ispconfig

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"hostpanel/domain"
)

// Accepted is not applied: the engine journals a change, and its servers carry
// the journal out once a minute.
const (
	journalSlack  = 300 * time.Second // between our clock and the engine's
	journalWindow = 30 * time.Minute  // looked at for what another process wrote
	writesKept    = 6 * time.Hour
)

// writes remembers when rows were written, to know how far back to look.
type writes struct {
	mu sync.Mutex
	at map[string]time.Time
}

func writeKey(table string, number int64) string { return table + ":" + decimal(number) }

func (w *writes) note(table string, number int64, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at == nil {
		w.at = map[string]time.Time{}
	}
	for k, t := range w.at {
		if at.Sub(t) > writesKept {
			delete(w.at, k)
		}
	}
	w.at[writeKey(table, number)] = at
}

func (w *writes) forget(table string, number int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.at, writeKey(table, number))
}

func (w *writes) since(table string, number int64, now time.Time) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at, known := w.at[writeKey(table, number)]; known {
		return at.Add(-journalSlack)
	}
	return now.Add(-journalWindow)
}

// A journal tells how far the engine's servers have carried out what was written.
type journal struct {
	*connection
	writes writes
}

// applied tells whether a row has been carried out. The row has been read
// before; a queue that is empty now was empty of its change. A queue that never
// runs dry is counted against the jobs after the row's last one.
func (j *journal) applied(ctx context.Context, r *resource, have row) (bool, error) {
	server := have.number("server_id")
	if r == &clients {
		server = j.Servers.Web
	}
	job, found, err := j.lastJob(ctx, r, have.number(r.key))
	if err != nil {
		return false, err
	}
	done, err := j.through(ctx, server, job, found)
	if err != nil || !done || !found {
		return done, err
	}
	return true, j.complaint(ctx, r, job)
}

// through tells whether the server has come as far as the job.
func (j *journal) through(ctx context.Context, server int64, job row, found bool) (bool, error) {
	waiting, err := j.queued(ctx, server)
	if err != nil || waiting == 0 || !found {
		return waiting == 0, err
	}
	after, err := j.rows(ctx, "sys_datalog_get", members{{"datalog_id", job.number("datalog_id")}, {"newer", true}}, []string{"datalog_id", "server_id"})
	if err != nil {
		return false, err
	}
	later := int64(0)
	for _, other := range after {
		mine := other.number("server_id") == server || other.number("server_id") == 0
		if mine && other.number("datalog_id") > job.number("datalog_id") {
			later++
		}
	}
	if waiting, err = j.queued(ctx, server); err != nil { // after the list: the other order would see what is not there yet
		return false, err
	}
	return waiting <= later, nil
}

// queued counts the jobs that the server has not carried out.
func (j *journal) queued(ctx context.Context, server int64) (int64, error) {
	if server < 1 {
		return 0, domain.Fail(domain.Permanent, "engine_servers", errors.New("a row without a server is never carried out"))
	}
	var count countText
	err := j.read(ctx, "monitor_jobqueue_count", members{{"server_id", server}}, &count)
	return int64(count), err
}

type countText int64

func (c *countText) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	*c = countText(n)
	return err
}

// lastJob finds the last job of a row in the journal, newest first. The job of
// a new row does not name it, except in the row that it carries.
func (j *journal) lastJob(ctx context.Context, r *resource, number int64) (row, bool, error) {
	since := j.writes.since(r.table, number, j.Now())
	found, err := j.rows(ctx, "sys_datalog_get_by_tstamp", members{{"tstamp", since.Unix()}}, []string{"datalog_id", "server_id", "dbtable", "dbidx", "data"})
	if err != nil {
		return nil, false, err
	}
	named := r.key + ":" + decimal(number)
	fresh := regexp.MustCompile(fmt.Sprintf(`"new";a:\d+:\{s:%d:"%s";(s:\d+:"%d"|i:%d);`, len(r.key), r.key, number, number))
	for _, job := range found {
		if job["dbtable"] == r.table && (job["dbidx"] == named || job["dbidx"] == r.key+":" && fresh.MatchString(job["data"])) {
			delete(job, "data") // it carries every column, secrets too
			return job, true, nil
		}
	}
	return nil, false, nil
}

// complaint reads whether the server refused a job. Its text is dropped,
// because it may quote the row.
func (j *journal) complaint(ctx context.Context, r *resource, job row) error {
	found, err := j.rows(ctx, "sys_datalog_get", members{{"datalog_id", job.number("datalog_id")}}, []string{"datalog_id", "error"})
	if err != nil {
		return err
	}
	for _, j := range found {
		if j["error"] != "" && j.number("datalog_id") == job.number("datalog_id") {
			return domain.Fail(domain.Permanent, "engine_refused", fmt.Errorf("the server refused job %d of a %s", job.number("datalog_id"), r.kind))
		}
	}
	return nil
}
