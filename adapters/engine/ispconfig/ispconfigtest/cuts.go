package ispconfigtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A died call is one under which PHP has ended.
type died struct{}

// Cut lets PHP end after so many steps: an insert, an update or a job is one, and
// so is the end of a call. Until the engine is mended nothing is answered any
// more. Mending tells whether it came to that.
func (e *Engine) Cut(steps int) (mend func() bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.left, e.dead = steps, false
	return func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		dead := e.dead
		e.left, e.dead = 0, false
		return dead
	}
}

// step counts a step of a call.
func (c *call) step() {
	e := c.engine
	if !c.quiet {
		e.pause(c.function)
	}
	if c.quiet || e.left == 0 {
		return
	}
	if e.left--; e.left == 0 {
		e.dead = true
		panic(died{})
	}
}

// A stall is a call that takes long.
type stall struct {
	function         string
	steps            int
	reached, resumed chan struct{}
}

// Stall lets the next call of a function stop at that step: at 1 before it has done
// anything. reached is closed then. The call goes on with resume, whether or not its
// caller has given up; until then other calls get their chance.
func (e *Engine) Stall(function string, step int) (reached <-chan struct{}, resume func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := &stall{function, step, make(chan struct{}), make(chan struct{})}
	e.slow = s
	return s.reached, sync.OnceFunc(func() { close(s.resumed) })
}

// pause counts a step of a call that takes long, and waits at the one that was set.
func (e *Engine) pause(function string) {
	s := e.slow
	if s == nil || s.function != function {
		return
	}
	if s.steps--; s.steps > 0 {
		return
	}
	e.slow = nil
	close(s.reached)
	e.mu.Unlock()
	<-s.resumed
	e.mu.Lock()
}

// Dead tells whether it has come to the end that Cut has set.
func (e *Engine) Dead() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dead
}

// Torn lists what is not whole: what lacks a part that its creation makes, what
// the servers were never told of, and what stands there twice.
func (e *Engine) Torn() (torn []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.tables["client"].rows {
		if id := number(r.text("client_id")); e.groups[id] == 0 || !e.Logins.has(id) {
			torn = append(torn, "client "+r.text("username")+" without a group or a login")
		}
	}
	for _, r := range e.tables["web_domain"].rows {
		if r.text("document_root") == "" || r.text("system_user") == "" {
			torn = append(torn, "site "+r.text("domain")+" without a directory or a user")
		}
	}
	for _, r := range e.tables["dns_soa"].rows {
		if len(e.nameServers(r)) < 2 {
			torn = append(torn, "zone "+r.text("origin")+" without its name servers")
		}
	}
	return append(torn, append(e.untold(), e.twice()...)...)
}

func number(text string) int { n, _ := strconv.Atoi(text); return n }

// nameServers are the records of the servers of a zone.
func (e *Engine) nameServers(zone *record) (names []string) {
	for _, r := range e.tables["dns_rr"].rows {
		if r.text("zone") == zone.text("id") && r.text("type") == "NS" && r.text("name") == zone.text("origin") && r.text("active") == "Y" {
			names = append(names, r.text("data"))
		}
	}
	return names
}

// untold are rows of which the last job, if there is one, tells something else,
// and records after which the serial was not raised.
func (e *Engine) untold() (all []string) {
	for name, t := range e.tables {
		for _, r := range t.rows {
			last := e.lastJob(name, r.text(t.key))
			what := fmt.Sprintf("%s %s", name, r.text(t.key))
			switch {
			case last == nil:
				all = append(all, what+" without a job")
			case !strings.Contains(last.data, `"new";`+serialised(t.columns, r.values)):
				all = append(all, what+" is not as its last job says")
			case name == "dns_rr" && e.lastJob("dns_soa", r.text("zone")).id < last.id:
				all = append(all, what+" without a higher serial")
			}
		}
	}
	return all
}

func (e *Engine) lastJob(table, row string) *job {
	for _, j := range slices.Backward(e.journal) {
		if j.table == table && j.row == row {
			return j
		}
	}
	return nil
}

// twice are rows that have equals.
func (e *Engine) twice() (all []string) {
	keys := map[string]string{
		"client": "username", "web_domain": "domain", "web_database": "database_name",
		"web_database_user": "database_user", "dns_soa": "origin",
		"mail_domain": "domain", "mail_user": "email", "mail_forwarding": "source", "ftp_user": "username",
		"shell_user": "username", "cron": "command",
	}
	for name, column := range keys {
		seen := map[string]bool{}
		for _, r := range e.tables[name].rows {
			if seen[r.text(column)] {
				all = append(all, name+" "+r.text(column)+" twice")
			}
			seen[r.text(column)] = true
		}
	}
	seen := map[string]bool{}
	for _, r := range e.tables["dns_rr"].rows {
		key := strings.Join([]string{r.text("zone"), r.text("name"), r.text("type"), r.text("data")}, " ")
		if seen[key] {
			all = append(all, "record "+key+" twice")
		}
		seen[key] = true
	}
	return all
}

// Forget loses a row, and the records of a zone with it, as a server does that an
// older backup was restored to: no job tells of it.
func (e *Engine) Forget(name string, id int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := e.tables[name].find(int(id))
	if r == nil {
		return false
	}
	e.tables[name].remove(r)
	switch name {
	case "client":
		e.dismiss(int(id))
	case "dns_soa":
		records := e.tables["dns_rr"]
		records.rows = slices.DeleteFunc(records.rows, func(part *record) bool { return part.text("zone") == r.text("id") })
	}
	return true
}

// Count tells how many rows a table has.
func (e *Engine) Count(name string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.tables[name].rows)
}

// Jobs tells how many jobs the journal has.
func (e *Engine) Jobs() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.journal)
}
