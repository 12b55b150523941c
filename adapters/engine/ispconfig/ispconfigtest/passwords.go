package ispconfigtest

import (
	"fmt"
	"regexp"
)

// A PasswordRule is what the engine wants of passwords: bytes, and a strength from 1 to 5.
type PasswordRule struct{ Length, Strength int }

var strengths = []string{"", "Weak", "Fair", "Good", "Strong", "Very Strong"}

// refuse is what the engine says of a password that is too weak; "": it is not. None is
// no password.
func (r PasswordRule) refuse(t *table, params object) string {
	for _, column := range []string{"password", "database_password"} {
		sent, _ := params.get(column)
		s := plain(sent)
		if !t.has(column) || s == nil || *s == "" || len(*s) >= r.Length && strength(*s) >= r.Strength {
			continue
		}
		said := "The chosen password does not match the security guidelines. It has to be at least " +
			fmt.Sprint(r.Length, " chars in length")
		if r.Strength > 0 {
			said += fmt.Sprintf(" and have a strength of \"%s\"", strengths[r.Strength])
		}
		return said + "."
	}
	return ""
}

var kindsOfCharacters = []*regexp.Regexp{
	regexp.MustCompile(`[a-z]`), regexp.MustCompile(`[A-Z]`), regexp.MustCompile(`[0-9]`),
	regexp.MustCompile("[`~!@#$%^&*()_+|=\\-\\[\\]}{';:/?.>,<\" ]"),
}

// strength is how the engine measures a password: by length, and by capitals, digits and
// symbols unless only two kinds of characters are there.
func strength(password string) int {
	n, points, different := len(password), 0, 0
	for i, kind := range kindsOfCharacters {
		if kind.MatchString(password) {
			different++
			points += min(i, 1)
		}
	}
	if different < 3 {
		points = 0
	}
	for _, step := range [][]struct{ most, is int }{
		0: {{4, 1}, {6, 1}, {8, 2}, {n, 3}},
		1: {{4, 1}, {6, 2}, {10, 3}, {n, 4}},
		2: {{4, 1}, {8, 3}, {10, 4}, {n, 5}},
		3: {{4, 1}, {6, 3}, {8, 4}, {n, 5}},
	}[points] {
		if n <= step.most {
			return step.is
		}
	}
	return 1
}
