// Package wording formats the parts of the short English texts in which events
// describe themselves: codes, times, counts and parts that may be missing.
package wording

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Spaced writes a code with spaces: "name_taken" is "name taken".
func Spaced(code string) string { return strings.ReplaceAll(code, "_", " ") }

// Around puts text between two others. An empty text is left out with both.
func Around(before, text, after string) string {
	if text == "" {
		return ""
	}
	return before + text + after
}

// Minute writes a time to the minute, in UTC.
func Minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// Day writes the date of a time in UTC.
func Day(t time.Time) string { return t.UTC().Format("2006-01-02") }

// Number writes a number; zero is empty.
func Number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// Count writes a number with its noun: "1 event", "1,234 events".
func Count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Grouped(int64(n)) + " " + noun + "s"
}

// Grouped writes a number with its thousands separated: 1,234,567.
func Grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// Keys lists the keys of a map in order: "name, plan".
func Keys[V any](m map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// Pairs lists a map in order of its keys: "invoice 7, order 6f1c".
func Pairs(m map[string]string) string {
	all := make([]string, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		all = append(all, key+" "+m[key])
	}
	return strings.Join(all, ", ")
}
