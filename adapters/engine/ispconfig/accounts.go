package ispconfig

import (
	"context"
	"crypto/rand"
	"fmt"
	"regexp"

	"hostpanel/domain"
)

func accountTurns(sort string) func(*wish) []Turn {
	return func(w *wish) []Turn {
		return []Turn{siteTurn(w.server, w.Parents["site"], true), {Name: sort + "/" + w.Name}}
	}
}

// accountPassword is the password of an FTP account or a shell user.
var accountPassword = secret("password", "password")

// unguessable is a password that satisfies the engine and that is not kept.
func unguessable() string { return rand.Text() + "-a1" }

// secretNeeded refuses an object that would be unusable, or open to all,
// without its secret.
func secretNeeded(what string) error {
	return domain.Fail(domain.Permanent, "secret_needed", fmt.Errorf("%s without a password", what))
}

// A passwordRule is what the engine wants of passwords.
type passwordRule struct{ length, strength int64 }

// strong is the form of a password, which is sent as a column's secret.
func strong(name string, sent column) form {
	return form{
		field: name, refused: "The hosting server wants a password that is longer, or has capitals, digits and symbols too.",
		known: func(ctx context.Context, e *Engine, w *wish) (bool, error) {
			password, is := sent.secret(w)
			if !is || !w.asked {
				return true, nil // the engine refuses it itself
			}
			rule, err := e.passwords.get(ctx, e.api, 0, e.api.passwordRule)
			if rule != (passwordRule{}) {
				err = nil // the last one still counts
			}
			return rule.allows(password), err
		},
	}
}

// passwordRule reads the engine's rule. Without one it wants eight characters.
func (c *connection) passwordRule(ctx context.Context, _ int64) (passwordRule, error) {
	found, err := c.rows(ctx, "system_config_get", members{{"section", "misc"}}, []string{"min_password_length", "min_password_strength"})
	rule := passwordRule{length: 8}
	for _, misc := range found {
		if _, is := misc["min_password_length"]; is {
			rule.length = misc.number("min_password_length")
		}
		rule.strength = misc.number("min_password_strength")
	}
	return rule, err
}

func (r passwordRule) allows(password string) bool {
	return int64(len(password)) >= r.length && strengthOf(password) >= r.strength
}

var (
	smallLetter = regexp.MustCompile(`[a-z]`)
	furtherKind = []*regexp.Regexp{
		regexp.MustCompile(`[A-Z]`), regexp.MustCompile(`[0-9]`), regexp.MustCompile("[`~!@#$%^&*()_+|=\\-\\[\\]}{';:/?.>,<\" ]"),
	}
)

// strengthOf is the engine's measure of a password, from 1 to 5: its bytes, and the kinds of
// characters in it. Two kinds count as one.
func strengthOf(password string) int64 {
	kinds := 0
	for _, kind := range furtherKind {
		if kind.MatchString(password) {
			kinds++
		}
	}
	if kinds < 2 || kinds == 2 && !smallLetter.MatchString(password) {
		kinds = 0
	}
	longer := func(lengths ...int) (more int64) {
		for _, n := range lengths {
			if len(password) > n {
				more++
			}
		}
		return more
	}
	switch kinds {
	case 2:
		return 1 + 2*longer(4) + longer(8, 10)
	case 3:
		return 1 + 2*longer(4) + longer(6, 8)
	default:
		return 1 + longer(6, 8)
	}
}
