//go:build system

package webhookwriter

import (
	"fmt"
	"testing"
)

func TestWebhooksThatComeAtOnceShareACommit(t *testing.T) {
	t.Parallel()
	w := emptyInbox(t)
	var all []Webhook
	for i := range 50 {
		all = append(all, webhookCalled(fmt.Sprintf("evt_%d", i)))
	}
	if stored, refused := held(t, w, all...); stored != 50 || refused != 0 {
		t.Errorf("%d stored, %d refused", stored, refused)
	}
	if rows, commits := w.count(t, "*"), w.count(t, "distinct xmin::text"); rows != 50 || commits != 2 {
		t.Errorf("%d rows in %d commits", rows, commits)
	}
	if right := w.count(
		t, `*) filter (where body = convert_to('body of ' || event_id, 'UTF8') and body_hash = convert_to(event_id, 'UTF8')`,
	); right != 50 {
		t.Errorf("%d of 50 rows have their own body", right)
	}
}
