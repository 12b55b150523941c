package proxmoxtest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A task is a worker of a node. Its steps are done one by one, some calls apart.
type task struct {
	upid, kind, id, node string
	log                  []string
	steps                []func() string // each returns the error that ends the task, or ""
	due                  int             // the time of the next step
	held                 bool
	exit                 string // "": it runs
}

// begin starts a worker. Its answer is the task's name.
func (s *Server) begin(kind, nodeName, id string, steps ...func() string) (any, error) {
	s.pids++
	upid := fmt.Sprintf("UPID:%s:%08X:%08X:%08X:%s:%s:%s:", nodeName, s.pids, s.clock, s.clock, kind, id, Token)
	t := &task{upid: upid, kind: kind, id: id, node: nodeName, steps: steps, due: s.clock + s.Faults.pace(), held: s.Faults.holds(kind)}
	s.tasks = append(s.tasks, t)
	return upid, nil
}

// advance lets time pass: calls that are due.
func (s *Server) advance(calls int) {
	for range calls {
		s.clock++
		for _, t := range s.tasks {
			if t.exit == "" && !t.held && t.due <= s.clock && !s.nodes[t.node].away {
				s.step(t)
			}
		}
	}
}

func (s *Server) step(t *task) {
	t.due = s.clock + s.Faults.pace()
	if failed := s.Faults.fails(t.kind); failed != "" {
		t.exit = failed
		undo(s, t)
		return
	}
	err := t.steps[0]()
	t.steps = t.steps[1:]
	switch {
	case err != "":
		t.exit = err
	case len(t.steps) == 0:
		t.exit = "OK"
	}
	if t.exit != "" {
		t.log = append(t.log, "TASK "+strings.Replace("ERROR: "+t.exit, "ERROR: OK", "OK", 1))
	}
}

// undo takes back what a task that fails has begun: a clone deletes its copy, others leave
// the lock that they have set.
func undo(s *Server, t *task) {
	t.log = append(t.log, "TASK ERROR: "+t.exit)
	if t.kind != "qmclone" {
		return
	}
	for _, line := range t.log {
		var template, id int64
		if n, _ := fmt.Sscanf(line, "creating a clone of VM %d with ID %d", &template, &id); n == 2 {
			s.forget(id)
		}
	}
}

func runs(s *Server, kind, id string) *task {
	i := slices.IndexFunc(s.tasks, func(t *task) bool { return t.exit == "" && t.kind == kind && t.id == id })
	if i < 0 {
		return nil
	}
	return s.tasks[i]
}

func listTasks(s *Server, r request) (any, error) {
	rows := []any{}
	for _, t := range slices.Backward(s.tasks) {
		if !t.fits(r) {
			continue
		}
		row := map[string]any{
			"upid": t.upid, "node": t.node, "type": t.kind, "id": t.id, "user": "hostpanel@pve", "tokenid": "panel", "status": t.exit,
		}
		if t.exit == "" {
			row["status"] = "RUNNING"
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// fits tells whether a task is of those that are asked for.
func (t *task) fits(r request) bool {
	of := func(name, is string) bool { return r.form[name] == "" || r.form[name] == is }
	source := map[bool]string{true: "active", false: "archive"}[t.exit == ""]
	return t.node == r.path["node"] && of("vmid", t.id) && of("typefilter", t.kind) &&
		(r.form["source"] == "all" || cmp.Or(r.form["source"], "archive") == source)
}

func findTask(s *Server, upid string) (*task, error) {
	i := slices.IndexFunc(s.tasks, func(t *task) bool { return t.upid == upid })
	if i < 0 {
		return nil, invalid("upid", "no such task")
	}
	return s.tasks[i], nil
}

func taskStatus(s *Server, r request) (any, error) {
	t, err := findTask(s, r.path["upid"])
	if err != nil {
		return nil, err
	}
	answer := map[string]any{"upid": t.upid, "node": t.node, "type": t.kind, "id": t.id, "status": "running"}
	if t.exit != "" {
		answer["status"], answer["exitstatus"] = "stopped", t.exit
	}
	return answer, nil
}

func taskLog(s *Server, r request) (any, error) {
	t, err := findTask(s, r.path["upid"])
	if err != nil {
		return nil, err
	}
	rows := []any{}
	for i, line := range t.log {
		rows = append(rows, map[string]any{"n": i + 1, "t": line})
	}
	return rows, nil
}
