package sagastest

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
)

// ManyRuns asks for so many sites at once, and switches all of them off at once.
func ManyRuns(t *testing.T, many int) {
	t.Helper()
	h := NewHousehold(t)
	var ask, halt []domain.Command
	for i := range many {
		s := h.Ask(int64(1000+i), Site(fmt.Sprintf("s%d.example.com", i)))
		ask, halt = append(ask, s), append(halt, hosting.Disable{Ref: s.Ref, By: hosting.BySite})
	}
	h.Carry(ask...)
	begun := time.Now()
	h.Carry(halt...)
	t.Logf("%d runs started in %s", many, time.Since(begun))
	h.Equal("runs", h.Count(`select count(*) from saga_run where about like 'site-%'`), 2*many)
	begun = time.Now()
	h.Goes()
	for off := many / 10; off <= many; off += many / 10 { // each wait is for a part of them
		h.Eventually(fmt.Sprintf("%d are off", off), func() bool {
			return h.Count(`select count(*) from resources where kind = 'site' and sync_status = 'synced' and disabled_by <> '{}'`) >= off
		})
	}
	t.Logf("and were done in %s", time.Since(begun))
	h.Equal("made active", cmp.Or(Value(h.Has("site", "s7.example.com"), "is_active"), "?"), "false")
}
