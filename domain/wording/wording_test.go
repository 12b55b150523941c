package wording_test

import (
	"testing"

	"hostpanel/domain/wording"
)

func TestNumbersAreGrouped(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -100: "-100"} {
		if got := wording.Grouped(n); got != want {
			t.Errorf("%d is written %s", n, got)
		}
	}
}

func TestAMissingTextTakesItsSurroundingsAlong(t *testing.T) {
	if got := wording.Around(" (", "", ")") + wording.Around(" (", "by mail", ")"); got != " (by mail)" {
		t.Errorf("%q", got)
	}
}
