package field

import (
	"strings"
	"time"

	"github.com/google/uuid"
)

type moment struct{ at *time.Time }

func (m moment) place() any                     { return m.at }
func (m moment) apart() kind                    { return moment{new(time.Time)} }
func (m moment) set(v any) bool                 { return setTime(m.at, v) }
func (m moment) show(b []byte, _ *Field) []byte { return AppendTime(b, *m.at) }

func (moment) schema(*Field) map[string]any {
	return map[string]any{"type": "string", "format": "date-time"}
}

func setTime(at *time.Time, v any) bool {
	t, ok := v.(time.Time)
	if ok {
		*at = t
	}
	return ok
}

// AppendTime appends a moment as JSON: in UTC, with six fraction digits, or
// with none when the fraction is zero.
func AppendTime(b []byte, t time.Time) []byte {
	t = t.UTC().Truncate(time.Microsecond)
	if t.Nanosecond() == 0 {
		return t.AppendFormat(b, `"2006-01-02T15:04:05Z"`)
	}
	return t.AppendFormat(b, `"2006-01-02T15:04:05.000000Z"`)
}

const wrongTime = "Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z]."

func (m moment) read(sent Value, _ *Field) []string {
	t, ok := ParseTime(sent.Text)
	if !ok || sent.Kind != TextValue {
		return []string{wrongTime}
	}
	*m.at = t
	return nil
}

// times are the forms of a moment; Go reads a fraction after the seconds by
// itself, and Z also for +00:00.
var times = func() (all []string) {
	for _, clock := range []string{"2006-01-02T15:04:05", "2006-01-02T15:04"} {
		for _, zone := range []string{"Z07:00", "Z0700", "Z07", ""} {
			all = append(all, clock+zone)
		}
	}
	return all
}()

// ParseTime reads a moment: T or a blank between day and hour, seconds and
// zone optional (UTC), microseconds.
func ParseTime(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if len(s) > 10 && s[10] == ' ' {
		s = s[:10] + "T" + s[11:]
	}
	for _, layout := range times {
		if t, err := time.Parse(layout, s); err == nil && !strings.Contains(s, ",") {
			t = t.UTC().Truncate(time.Microsecond)
			return t, t.Year() >= 1 && t.Year() <= 9999 // others have no form of their own
		}
	}
	return time.Time{}, false
}

type identifier struct{ at *uuid.UUID }

func (i identifier) place() any  { return i.at }
func (i identifier) apart() kind { return identifier{new(uuid.UUID)} }

func (i identifier) set(v any) bool {
	id, ok := v.(uuid.UUID)
	if ok {
		*i.at = id
	}
	return ok
}

func (i identifier) show(b []byte, _ *Field) []byte {
	b = append(b, '"')
	b = append(b, i.at.String()...)
	return append(b, '"')
}

func (i identifier) read(sent Value, _ *Field) []string {
	id, err := uuid.Parse(strings.TrimSpace(sent.Text))
	if err != nil || sent.Kind != TextValue {
		return []string{"Must be a valid UUID."}
	}
	*i.at = id
	return nil
}

func (identifier) schema(*Field) map[string]any {
	return map[string]any{"type": "string", "format": "uuid"}
}
