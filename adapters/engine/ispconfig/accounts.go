package ispconfig

import (
	"crypto/rand"
	"fmt"

	"hostpanel/domain"
)

func accountTurns(sort string) func(*wish) []Turn {
	return func(w *wish) []Turn {
		return []Turn{siteTurn(w.server, w.Parents["site"], true), {Name: sort + "/" + w.Name}}
	}
}

// unguessable is a password that satisfies the engine and that is not kept.
func unguessable() string { return rand.Text() + "-a1" }

// secretNeeded refuses an object that would be unusable, or open to all,
// without its secret.
func secretNeeded(what string) error {
	return domain.Fail(domain.Permanent, "secret_needed", fmt.Errorf("%s without a password", what))
}
