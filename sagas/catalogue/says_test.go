package catalogue_test

import (
	"strings"
	"testing"

	"hostpanel/sagas/catalogue"
)

func TestEveryEventDescribesItself(t *testing.T) {
	said := map[string]string{}
	for name := range catalogue.Events() {
		event, err := catalogue.Events().Decode(name, catalogue.Events().Schema(name), []byte(`{}`))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		says := event.Says()
		if strings.TrimSpace(says) == "" || strings.Contains(says, "%!") {
			t.Errorf("%s with all its texts erased says %q", name, says)
		}
		area, _, _ := strings.Cut(name, ".")
		if other, taken := said[area+says]; taken {
			t.Errorf("%s and %s both say %q", name, other, says)
		}
		said[area+says] = name
	}
}
