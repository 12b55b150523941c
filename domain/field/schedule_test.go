package field_test

import (
	"strings"
	"testing"

	"hostpanel/domain/field"
)

func TestASchedule(t *testing.T) {
	for _, c := range []struct{ sent, kept string }{ // kept "": refused
		{"*/5 * * * *", "*/5 * * * *"},
		{" 0   3 *  * 1-5 ", "0 3 * * 1-5"},
		{"0,30 0-23/2 1,15 1-12 0,7", "0,30 0-23/2 1,15 1-12 0,7"},
		{"*/1 * * * *", "* * * * *"},
		{"*/1,*/1 1-5/1 * * *", "*,* 1-5 * * *"},
		{"*/10,5 * * * *", "*/10,5 * * * *"},
		{"@daily", "@daily"},
		{"@hourly", "@hourly"},
		{"@weekly", "@weekly"},
		{"@monthly", "@monthly"},
		{"@yearly", "@yearly"},
		{"@reboot", ""},
		{"@annually", "@annually"},
		{"@midnight", "@midnight"},
		{"0 0 30 2 *", ""},
		{"0 0 31 4 *", ""},
		{"0 0 31 2,4,6-11/3 *", ""},
		{"0 0 30-31 2 */2", ""},
		{"0 0 29 2 *", "0 0 29 2 *"},
		{"0 0 30-31 4 *", "0 0 30-31 4 *"},
		{"0 0 31 2,3 *", "0 0 31 2,3 *"},
		{"0 0 31 */6 *", "0 0 31 */6 *"},
		{"0 0 31 2-8/3 *", "0 0 31 2-8/3 *"},
		{"0 0 */30 2 *", "0 0 */30 2 *"},
		{"0 0 30 2 1", "0 0 30 2 1"},
		{"* * * *", ""},
		{"* * * * * *", ""},
		{"60 * * * *", ""},
		{"* 24 * * *", ""},
		{"* * 0 * *", ""},
		{"* * * 13 *", ""},
		{"* * * * 8", ""},
		{"5-1 * * * *", ""},
		{"5-5 * * * *", ""},
		{"*-5 * * * *", ""},
		{"5/10 * * * *", ""},
		{"*/0 * * * *", ""},
		{"*/59 * * * *", ""},
		{"1,,2 * * * *", ""},
		{", * * * *", ""},
		{"-1 * * * *", ""},
		{"* * * jan mon", ""},
		{"* * * * *;", ""},
		{strings.Repeat("1,", 60) + "1 * * * *", ""},
	} {
		var kept string
		set := field.Set{field.Text("schedule", &kept).Is(field.Schedule)}
		_, err := set.DecodeJSON([]byte(`{"schedule":"`+c.sent+`"}`), field.Create)
		if (err == nil) != (c.kept != "") || err == nil && kept != c.kept {
			t.Errorf("%q: kept %q, %v", c.sent, kept, err)
		}
	}
	if _, wrong := check(field.Schedule, "0 0 30 2 *"); wrong != "x: No month of the schedule has such a day." {
		t.Error(wrong)
	}
	if got := field.FiveFields("@annually") + "; " + field.FiveFields("@midnight"); got != "0 0 1 1 *; 0 0 * * *" {
		t.Error(got)
	}
	if got := field.FiveFields("@weekly") + "; " + field.FiveFields("1 2 3 4 5"); got != "0 0 * * 0; 1 2 3 4 5" {
		t.Error(got)
	}
}
