package rotation

import (
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/eventstore"
)

func TestEachStepOfAReplacementIsDoneInItsTime(t *testing.T) {
	long, lately := time.Now().Add(-8*24*time.Hour), time.Now().Add(-time.Hour)
	seals := func(id string, place int, since time.Time) eventstore.SecretKey {
		return eventstore.SecretKey{ID: id, Place: place, SealingAt: since, Newest: true}
	}
	opens := func(id string, people int64) eventstore.SecretKey {
		return eventstore.SecretKey{ID: id, Place: 2, SealingAt: long, People: people}
	}
	for _, c := range []struct {
		what   string
		list   string
		keys   []eventstore.SecretKey
		leaked bool
		after  string // "+": one more key
		says   string
	}{
		{"one key", "a", []eventstore.SecretKey{seals("a", 1, long)}, false, "a,+", "Step 1"},
		{
			"a new key at the end", "a,b",
			[]eventstore.SecretKey{seals("a", 1, long), {ID: "b", Place: 2}},
			false, "b,a",
			"Step 2",
		},
		{"no restart since", "b,a", []eventstore.SecretKey{
			{ID: "b", Place: 1},
			{ID: "a", Place: 2, SealingAt: long, Newest: true},
		}, false, "", "restart every process first"},
		{
			"the old one wraps", "b,a",
			[]eventstore.SecretKey{seals("b", 1, long), opens("a", 7)},
			true, "",
			"7 keys of people",
		},
		{"not for seven days", "b,a", []eventstore.SecretKey{seals("b", 1, lately), opens("a", 0)}, false, "", "seven days"},
		{"leaked", "b,a", []eventstore.SecretKey{seals("b", 1, lately), opens("a", 0)}, true, "b", "Step 3"},
		{"all is done", "b,a", []eventstore.SecretKey{seals("b", 1, long), opens("a", 0)}, false, "b", "Step 3"},
		{"one is missing", "b", []eventstore.SecretKey{seals("b", 1, long), {ID: "a", People: 1}}, false, "", "a is missing"},
		{
			"three", "c,b,a",
			[]eventstore.SecretKey{seals("c", 1, long), opens("b", 0), {ID: "a", Place: 3}},
			false, "",
			"edit the file",
		},
	} {
		list, say, err := Next(strings.Split(c.list, ","), c.keys, c.leaked)
		if err != nil {
			say = err.Error()
		}
		if n := len(list); n > 0 && strings.HasSuffix(c.after, "+") && len(list[n-1]) == 44 {
			list[n-1] = "+"
		}
		if want := strings.FieldsFunc(c.after, func(r rune) bool { return r == ',' }); !slices.Equal(list, want) ||
			!strings.Contains(say, c.says) {
			t.Errorf("%s: %v, %s", c.what, list, say)
		}
	}
}

func TestTheCheckSaysWhatComesNext(t *testing.T) {
	now := time.Now()
	a, b := eventstore.SecretKey{ID: "a", Place: 1, SealingAt: now, Newest: true}, eventstore.SecretKey{ID: "b", Place: 2}
	old := eventstore.SecretKey{ID: "b", Place: 2, SealingAt: now}
	wraps, lost := old, old
	wraps.People, lost.Place, lost.Webhooks = 3, 0, 1
	first := eventstore.SecretKey{ID: "a", Place: 1}
	for want, keys := range map[string][]eventstore.SecretKey{
		"Nothing is to be done":      {a},
		"put b first":                {a, b},
		"Restart every process":      {first, old},
		"nothing is sealed with b":   {a, wraps},
		"Seven days":                 {a, old},
		"hostpanel secrets forget b": {a, lost},
	} {
		if got := Advice(keys); !strings.Contains(got, want) {
			t.Errorf("%+v: %s", keys, got)
		}
	}
}
