package ispconfigtest

import (
	"strconv"
	"strings"
)

// A job is one change in the journal, which servers carry out later. Its
// status is "ok" from the start and says nothing.
type job struct {
	id, server int
	table, key string
	row        string
	action     string
	at         string
	data       string
	refusal    any
}

func (e *Engine) note(t *table, action string, was, is *record) {
	r := is
	if r == nil {
		r = was
	}
	if action == "u" && serialised(t.columns, was.values) == serialised(t.columns, is.values) {
		return
	}
	server, _ := strconv.Atoi(r.text("server_id"))
	j := &job{
		id: len(e.journal) + 1, server: server, table: t.name, key: t.key, row: r.text(t.key), action: action,
		at: strconv.FormatInt(e.now.Unix(), 10),
	}
	blank := &record{map[string]*string{}}
	if was == nil {
		was = blank
	}
	if is == nil {
		is = blank
	}
	j.data = `a:2:{s:3:"new";` + serialised(t.columns, is.values) + `s:3:"old";` + serialised(t.columns, was.values) + `}`
	e.journal = append(e.journal, j)
}

func (j *job) show() object {
	index := j.key + ":" + j.row
	if j.action == "i" {
		index = j.key + ":"
	}
	return object{
		{"datalog_id", strconv.Itoa(j.id)},
		{"server_id", strconv.Itoa(j.server)},
		{"dbtable", j.table},
		{"dbidx", index},
		{"action", j.action},
		{"tstamp", j.at},
		{"user", "admin"},
		{"data", j.data},
		{"status", "ok"},
		{"error", j.refusal},
	}
}

func (e *Engine) waiting(server int) int {
	count := 0
	for _, j := range e.journal {
		if (j.server == server || j.server == 0) && j.id > e.updated[server] {
			count++
		}
	}
	return count
}

// Tick lets the server carry out what is in the journal.
func (e *Engine) Tick() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.carryOut(len(e.journal))
}

// TickUntil lets the server carry out all but the newest jobs.
func (e *Engine) TickUntil(newest int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.carryOut(len(e.journal) - newest)
}

func (e *Engine) carryOut(last int) {
	for _, j := range e.journal[:last] {
		if j.id <= e.updated[1] {
			continue
		}
		if e.jobFails == j.table {
			j.refusal = "nginx: configuration file /etc/nginx/nginx.conf test failed"
		}
		if e.acmeFails && j.table == "web_domain" {
			e.failOrder(j)
		}
	}
	e.updated[1] = max(e.updated[1], last)
}

// failOrder takes the flags of a certificate down again, as the server does.
func (e *Engine) failOrder(j *job) {
	id, _ := strconv.Atoi(j.row)
	if r := e.tables["web_domain"].find(id); r != nil && r.text("ssl_letsencrypt") == "y" {
		r.set("ssl_letsencrypt", "n")
		r.set("ssl", "n")
	}
}

// FailOrders lets every order of a certificate fail.
func (e *Engine) FailOrders(fail bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.acmeFails = fail
}

// FailJobs lets the server refuse the jobs of a table.
func (e *Engine) FailJobs(table string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.jobFails = table
}

// Bulk writes jobs of other clients with so many bytes each.
func (e *Engine) Bulk(jobs, bytes int) {
	e.Noise(jobs)
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, j := range e.journal[len(e.journal)-jobs:] {
		j.data = strings.Repeat("x", bytes)
	}
}

// Noise writes jobs of other clients, so that the journal does not run dry.
func (e *Engine) Noise(jobs int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for range jobs {
		j := &job{
			id: len(e.journal) + 1, server: 1, table: "server", key: "server_id", row: "1", action: "u",
			at: strconv.FormatInt(e.now.Unix(), 10),
		}
		e.journal = append(e.journal, j)
	}
}
