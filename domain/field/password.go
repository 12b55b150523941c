package field

import (
	_ "embed" // the list of common passwords
	"strings"
	"sync"
)

// Uncommon refuses the passwords that everybody tries first.
var Uncommon = Rule{Message: "This password is too common.", Holds: func(s string) bool { return !IsCommonPassword(s) }}

// Password is a secret that opens something: sent, never shown, never trimmed
// (docs/security.md).
func Password(name string, at *string) Field {
	return Text(name, at).Secret().Verbatim().Between(8, 128).Is(NoControl).Is(Uncommon)
}

// common-passwords.txt is what people choose first when eight characters are
// asked for: words, names and keyboard rows, and what is usually put behind
// them. One a line, in lower case, sorted.
//
//go:embed common-passwords.txt
var commonText string

var common = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for line := range strings.Lines(commonText) {
		all[strings.TrimSpace(line)] = true
	}
	return all
})

// IsCommonPassword tells whether a password is one of those tried first, in
// whatever case.
func IsCommonPassword(password string) bool { return common()[strings.ToLower(password)] }
