//go:build system

package accounts_test

import (
	"testing"

	"hostpanel/sagas/sagastest"
)

// A request that is sealed with a missing key is dropped with an alarm, and does not
// block others.
func TestARequestThatCannotBeReadIsDropped(t *testing.T) {
	t.Parallel()
	w := sagastest.NewWorld(t)
	w.Opens(1, "ana@example.com", "es")
	w.Must(w.Accounts.AskReset(t.Context(), "ana@example.com"))
	_, err := w.Pool.Exec(t.Context(), `update reset_request set key_id = 'gone'`)
	w.Must(err)
	w.Must(w.Accounts.AskReset(t.Context(), "ana@example.com"))
	w.Goes()
	w.Ended()
	w.Equal("mails", len(w.Mail.To("ana@example.com")), 1)
	w.Equal("alarm", w.Warned("cannot be read"), true)
}
