package proxmox

import (
	"context"
	"maps"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"hostpanel/domain"
)

// A worker starts tasks and waits for them.
type worker struct {
	api      *client
	patience time.Duration
	poll     time.Duration

	mu    sync.Mutex
	tasks map[int64]string // the last task of each machine whose end is not known
}

// do starts a task for a machine and waits for its end.
func (w *worker) do(ctx context.Context, id int64, method, path string, form url.Values) error {
	task, err := w.api.begin(ctx, method, path, form)
	if err != nil || task == "" {
		return err
	}
	return w.await(ctx, id, task)
}

// await waits for the end of a task. One that lasts longer is remembered: the machine is on
// its way, and the next call learns how the task ended.
func (w *worker) await(ctx context.Context, id int64, task string) error {
	w.remember(id, task)
	patience := time.NewTimer(w.patience)
	defer patience.Stop()
	for pause := w.poll / 50; ; pause = min(2*pause, w.poll) {
		if over, err := w.ended(ctx, task); over || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return unanswered(true, "waiting for a task", ctx.Err())
		case <-patience.C:
			return onItsWay()
		case <-time.After(pause):
		}
	}
}

// ended tells whether a task is over, and forgets it then. One that ended badly is a failure.
func (w *worker) ended(ctx context.Context, task string) (bool, error) {
	var now struct {
		Status string `json:"status"`
		Exit   string `json:"exitstatus"`
	}
	err := w.api.get(ctx, taskPath(task)+"/status", nil, &now)
	if err != nil && domain.ClassOf(err) != domain.Permanent || err == nil && now.Status == "running" {
		return false, err
	}
	w.forget(task) // also one that Proxmox has forgotten
	if err != nil || now.Exit == "OK" || strings.HasPrefix(now.Exit, "WARNINGS: ") {
		return true, err
	}
	return true, failedTask(task, now.Exit)
}

// last waits for the remembered task of a machine, if there is one.
func (w *worker) last(ctx context.Context, id int64) error {
	if task := w.remembered(id); task != "" {
		return w.await(ctx, id, task)
	}
	return nil
}

// outcome is the failure of the remembered task of a machine, if it is over.
func (w *worker) outcome(ctx context.Context, id int64) (err error) {
	if task := w.remembered(id); task != "" {
		_, err = w.ended(ctx, task)
	}
	return err
}

func (w *worker) remembered(id int64) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tasks[id]
}

func (w *worker) remember(id int64, task string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks[id] = task
}

func (w *worker) forget(task string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	maps.DeleteFunc(w.tasks, func(_ int64, known string) bool { return known == task })
}

// taskPath is where a task stands. Its name has the node: "UPID:pve1:…".
func taskPath(task string) string {
	node, _, _ := strings.Cut(strings.TrimPrefix(task, "UPID:"), ":")
	return "/nodes/" + url.PathEscape(node) + "/tasks/" + url.PathEscape(task)
}

// A runningTask is a row of a node's tasks.
type runningTask struct {
	Task   string `json:"upid"`
	Type   string `json:"type"`
	Status string `json:"status"`
}

// running are those of a node that the token may see. An open screen is none.
func (w *worker) running(ctx context.Context, node string, query url.Values) (running []runningTask, err error) {
	var all []runningTask
	query.Set("source", "active")
	query.Set("limit", "1000")
	if err := w.api.get(ctx, nodePath(node)+"/tasks", query, &all); err != nil {
		return nil, err
	}
	for _, t := range all {
		if t.Status == "RUNNING" && t.Type != "vncproxy" {
			running = append(running, t)
		}
	}
	return running, nil
}

// isCloning tells whether a clone to a number may be under way at a node. Such a task has
// the number of the template; the number of the copy stands in its log.
func (w *worker) isCloning(ctx context.Context, node string, id int64) (bool, error) {
	running, err := w.running(ctx, node, url.Values{"typefilter": {"qmclone"}})
	if err != nil {
		return false, err
	}
	for _, t := range running {
		if w.isOfAnother(t.Task, id) {
			continue
		}
		if target, err := w.cloneTarget(ctx, t.Task); err != nil || target == 0 || target == id {
			return true, err
		}
	}
	return false, nil
}

var cloneLine = regexp.MustCompile(`^creating a clone of VM \d+ with ID (\d+)`)

// cloneTarget is the number that a clone makes; 0: its log does not tell it yet.
func (w *worker) cloneTarget(ctx context.Context, task string) (int64, error) {
	var log []struct {
		Line string `json:"t"`
	}
	if err := w.api.get(ctx, taskPath(task)+"/log", url.Values{"limit": {"5"}}, &log); err != nil {
		return 0, err
	}
	for _, line := range log {
		if found := cloneLine.FindStringSubmatch(line.Line); found != nil {
			return whole(found[1]), nil
		}
	}
	return 0, nil
}

// isOfAnother tells whether a task is known to be for another machine.
func (w *worker) isOfAnother(task string, id int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for machine, known := range w.tasks {
		if known == task {
			return machine != id
		}
	}
	return false
}

func nodePath(node string) string { return "/nodes/" + url.PathEscape(node) }

func machinePath(node string, id int64) string {
	return nodePath(node) + "/qemu/" + strconv.FormatInt(id, 10)
}
