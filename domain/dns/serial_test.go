package dns_test

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hostpanel/domain/dns"
)

func TestASerialCountsWithinItsDay(t *testing.T) {
	day := time.Date(2026, 11, 21, 23, 59, 0, 0, time.UTC)
	tests := []struct {
		name       string
		last, next dns.Serial
	}{
		{"a new zone", 0, 2026112101},
		{"the second change of a day", 2026112101, 2026112102},
		{"the first change of a new day", 2026112037, 2026112101},
		{"more than 99 changes go into the next day", 2026112199, 2026112200},
		{"a day ahead, it goes on counting", 2026112200, 2026112201},
		{"a month that has no such day", 2026113199, 2026113200},
		{"counted without a date before", 17, 2026112101},
		{"in Unix seconds before", 1795255974, 2026112101},
		{"far ahead", 3000000000, 3000000001},
		{"the last there is", math.MaxUint32, 0},
	}
	for _, tt := range tests {
		if got := tt.last.Next(day); got != tt.next {
			t.Errorf("%s: after %d comes %d, want %d", tt.name, tt.last, got, tt.next)
		}
	}
}

func TestSecondariesAlwaysSeeTheNextSerial(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		serial := dns.Serial(rapid.Uint32().Draw(t, "serial"))
		day := time.Date(2000, 1, 1+rapid.IntRange(0, 40_000).Draw(t, "days since 2000"), 12, 0, 0, 0, time.UTC)
		next := serial.Next(day)
		if !next.After(serial) || serial.After(next) {
			t.Fatalf("%d is not newer than %d", next, serial)
		}
		if again := next.Next(day); !again.After(next) {
			t.Fatalf("%d, on the same day, is not newer than %d", again, next)
		}
	})
}

func TestSerialsBeginAnewAfterTheLast(t *testing.T) {
	tests := []struct {
		newer, older dns.Serial
	}{{1, 0}, {0, math.MaxUint32}, {1<<31 - 1, 0}, {100, math.MaxUint32 - 100}}
	for _, tt := range tests {
		if !tt.newer.After(tt.older) || tt.older.After(tt.newer) || tt.newer.After(tt.newer) {
			t.Errorf("%d is to be newer than %d", tt.newer, tt.older)
		}
	}
}
