package paneltest

import (
	"strings"
)

func Plainly(v string) string {
	name, _, _ := strings.Cut(strings.Trim(v, "{}"), ":")
	return "{" + name + "}"
}
