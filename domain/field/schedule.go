package field

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// Schedule is when a cron job runs: five fields of numbers, or a nickname such
// as "@daily". It takes what every engine takes, so it knows no names of months
// and days, and a step only after "*" or a range.
var Schedule = Rule{Max: 100, Message: "Enter a valid schedule.", Tidy: tidySchedule, Holds: isSchedule}.
	butFor(neverComes, "No month of the schedule has such a day.")

var nicknames = map[string]string{
	"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
	"@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// bounds are the least and the greatest number in each field of a schedule.
var bounds = [...][2]int{{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 7}}

var (
	entry   = regexp.MustCompile(`^(?:\*|(\d{1,2}))(?:-(\d{1,2}))?(?:/(\d{1,2}))?$`)
	oneStep = regexp.MustCompile(`/1([ ,]|$)`)
)

// FiveFields is a schedule without its nickname: "@daily" is "0 0 * * *".
func FiveFields(schedule string) string {
	if fields, is := nicknames[schedule]; is {
		return fields
	}
	return schedule
}

// tidySchedule has one space between fields, and no steps of one.
func tidySchedule(s string) string {
	return oneStep.ReplaceAllString(strings.Join(strings.Fields(s), " "), "$1")
}

func isSchedule(s string) bool {
	fields := strings.Split(FiveFields(s), " ")
	if len(fields) != len(bounds) {
		return false
	}
	for i, entries := range fields {
		for one := range strings.SplitSeq(entries, ",") {
			if !isEntry(one, bounds[i][0], bounds[i][1]) {
				return false
			}
		}
	}
	return true
}

// isEntry tells whether a field may have an entry: "*", "5", "1-5", "*/10" or "0-30/10".
func isEntry(s string, least, most int) bool {
	m := entry.FindStringSubmatch(s)
	if m == nil || m[1] == "" && m[2] != "" || m[1] != "" && m[2] == "" && m[3] != "" {
		return false
	}
	from, _ := strconv.Atoi(m[1])
	to, _ := strconv.Atoi(m[2])
	step, _ := strconv.Atoi(m[3])
	return (m[1] == "" || least <= from && from <= most) && (m[2] == "" || from < to && to <= most) && (m[3] == "" ||
		1 < step && step < most)
}

// longest are the most days that each month ever has.
var longest = [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}

// neverComes tells whether a schedule names days of the month alone, and none
// that one of its months ever has.
func neverComes(schedule string) bool {
	fields := strings.Split(FiveFields(schedule), " ")
	days, months, weekdays := fields[2], fields[3], fields[4]
	if !strings.HasPrefix(weekdays, "*") { // which are days as well
		return false
	}
	for month, last := range longest {
		for day := 1; day <= last && isDue(months, month+1); day++ {
			if isDue(days, day) {
				return false
			}
		}
	}
	return true
}

// isDue tells whether a number is among the entries of a field of days or months.
func isDue(entries string, n int) bool {
	for one := range strings.SplitSeq(entries, ",") {
		m := entry.FindStringSubmatch(one)
		from, err := strconv.Atoi(m[1])
		to, _ := strconv.Atoi(cmp.Or(m[2], m[1]))
		if err != nil { // "*"
			from, to = 1, n
		}
		step, _ := strconv.Atoi(cmp.Or(m[3], "1"))
		if from <= n && n <= to && (n-from)%step == 0 {
			return true
		}
	}
	return false
}
