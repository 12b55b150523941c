package ispconfig

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"hostpanel/domain"
)

// A progress is how far a row has come: it is accepted, journaled, and carried
// out or refused by the server.
type progress struct {
	known   bool // the journal, as far as it is known, has a job of the row
	told    bool // it tells the servers of the row as it is now
	applied bool // the server has come as far as that
	refused bool // and has put an error into the job
}

// progress reads how far a row has come. The row has been read before. A row
// without a job that is known has its last one, if any, before all that are.
func (j *journal) progress(ctx context.Context, r *resource, have row) (p progress, err error) {
	if err := j.follow(ctx); err != nil {
		return p, err
	}
	server := have.number("server_id")
	if r == &clients {
		server = j.api.Servers.Web
	}
	waiting, err := j.queued(ctx, server) // after the journal: the other order would see what is not there yet
	if err != nil {
		return p, err
	}
	if err := j.take(ctx); err != nil {
		return p, err
	}
	defer j.leave()
	last, known := j.last[rowKey(r.table, have.number(r.key))]
	p.known, p.applied = known, waiting <= j.after(last, server)
	p.told = j.tells(r, have)
	if known && p.applied {
		p.refused, err = j.complaint(ctx, last)
	}
	return p, err
}

// told tells whether the journal, as far as it has been read, tells the servers of
// a row as it is now.
func (j *journal) told(ctx context.Context, r *resource, have row) (bool, error) {
	if err := j.take(ctx); err != nil {
		return false, err
	}
	defer j.leave()
	return j.tells(r, have), nil
}

// tells: of a DNS record they are told only with a higher serial after it.
func (j *journal) tells(r *resource, have row) bool {
	last, known := j.last[rowKey(r.table, have.number(r.key))]
	return known && last.tells(r, have) && (!r.serial || j.last[rowKey(zones.table, have.number("zone"))].id > last.id)
}

// after counts the jobs for a server that came after one.
func (j *journal) after(last job, server int64) (count int64) {
	for i := len(j.jobs) - 1; i >= 0 && j.jobs[i].id > last.id; i-- {
		if j.jobs[i].server == server || j.jobs[i].server == 0 {
			count++
		}
	}
	return count
}

// queued counts the jobs that the server has not carried out.
func (j *journal) queued(ctx context.Context, server int64) (int64, error) {
	if server < 1 {
		return 0, domain.Fail(domain.Permanent, "engine_servers", errors.New("a row without a server is never carried out"))
	}
	var count countText
	err := j.api.read(ctx, "monitor_jobqueue_count", members{{"server_id", server}}, &count)
	return int64(count), err
}

type countText int64

func (c *countText) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	*c = countText(n)
	return err
}

// complaint reads whether the server refused a job that it has come to. That
// does not change any more. The text is dropped, because it may quote the row.
func (j *journal) complaint(ctx context.Context, of job) (bool, error) {
	if refused, judged := j.judged[of.id]; judged {
		return refused, nil
	}
	found, err := j.api.rows(ctx, "sys_datalog_get", members{{"datalog_id", of.id}}, []string{"datalog_id", "error"})
	if err != nil {
		return false, err
	}
	refused := false
	for _, one := range found {
		refused = refused || one["error"] != "" && one.number("datalog_id") == of.id
	}
	j.judged[of.id] = refused
	return refused, nil
}

// tells tells whether a job told the servers of the row as it is now.
func (o job) tells(r *resource, have row) bool {
	for _, c := range r.told() {
		if o.readable && !same(o.told[c], have[c]) {
			return false
		}
	}
	return true
}
