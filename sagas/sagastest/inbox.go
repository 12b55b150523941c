package sagastest

import (
	"sync/atomic"
)

// InboxState is the state of a webhook.
func InboxState(w *World, event string) (state string) {
	w.T.Helper()
	w.Must(w.Pool.QueryRow(w.T.Context(), `select state from webhook_inbox where event_id = $1`, event).Scan(&state))
	return state
}

// BreakInbox lets each attempt at a webhook fail, as long as broken says so.
func BreakInbox(w *World) (broken *atomic.Bool) {
	broken = &atomic.Bool{}
	broken.Store(true)
	w.InboxFault.To(func() error {
		if broken.Load() {
			return ErrLie
		}
		return nil
	})
	return broken
}
