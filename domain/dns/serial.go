package dns

import "time"

// A Serial numbers the states of a zone; secondaries take a state whose serial
// is newer than theirs. It reads as a date and a count within the day:
// 2026112101.
type Serial uint32

// Next is the serial of the zone's next state, on the given day: one more, or
// the first of the day if that is more. Hosting engines count the same way, so
// theirs and ours never overtake each other by more than was written.
func (s Serial) Next(day time.Time) Serial {
	y, m, d := day.Date()
	today := uint32(y*10000 + int(m)*100 + d)
	if uint32(s)/100 >= today {
		return s + 1
	}
	return Serial(today*100 + 1)
}

// After tells whether a serial is newer than another, in the arithmetic of
// RFC 1982, where numbers begin anew after the last.
func (s Serial) After(other Serial) bool { return int32(s-other) > 0 }
