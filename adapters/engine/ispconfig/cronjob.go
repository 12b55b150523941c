package ispconfig

import "strings"

// A cron job has no name of its own: its site, its schedule and its command
// tell it from others, for the engine lets equal ones stand side by side.
var cronJobs = resource{
	kind: "cron_job", table: "cron", anyName: true, off: members{{"active", "n"}}, limits: []string{"limit_cron"},
	parents: ofSite, needs: true, key: "id", identity: "cron_id", stems: []string{"sites_cron"}, functions: stem("sites_cron"),
	on: func(s Servers) int64 { return s.Web }, name: cronName, turns: accountTurns("cron"),
	queries: func(name, _ string, _ Servers) []query { return []query{{"sites_cron", cronKey(name)[:6]}} },
	columns: []column{
		given("server_id", func(w *wish) any { return w.server }),
		given("parent_domain_id", func(w *wish) any { return w.Parents["site"] }),
		cronPart(1, "schedule").shows("schedule", cronShown(1, 6)), cronPart(2, "schedule"), cronPart(3, "schedule"),
		cronPart(4, "schedule"),
		cronPart(5, "schedule"), cronPart(6, "command").shows("command", cronShown(6, 7)),
		given("type", cronType).from("command"), fixed("log", "n"), changing(flag("active", "is_active")),
	},
	forms: []form{
		{field: "schedule", sent: "in its five parts"},
		sending(single("command"), "`%` as `\\%`"),
	},
}

func init() {
	cronJobs.habits = habits{prepare: underSite}
	register(&cronJobs)
}

var cronColumns = []string{"parent_domain_id", "run_min", "run_hour", "run_mday", "run_month", "run_wday", "command"}

// cronKey are the columns that a name stands for. In a crontab a per cent sign
// ends the line unless it is escaped.
func cronKey(name string) (key members) {
	parts := append(strings.SplitN(strings.ReplaceAll(name, "%", `\%`), " ", len(cronColumns)), make([]string, len(cronColumns))...)
	for i, column := range cronColumns {
		key = append(key, member{column, parts[i]})
	}
	return key
}

func cronName(r row) string {
	var parts []string
	for _, column := range cronColumns {
		parts = append(parts, strings.ReplaceAll(r[column], `\%`, "%"))
	}
	return strings.Join(parts, " ")
}

func cronPart(i int, field string) column {
	return given(cronColumns[i], func(w *wish) any { return cronKey(w.Name)[i].value }).from(field)
}

func cronShown(from, to int) func(row) any {
	return func(r row) any {
		return strings.Join(strings.SplitN(cronName(r), " ", len(cronColumns))[from:to], " ")
	}
}

// cronType keeps shell commands in the site's jail.
func cronType(w *wish) any {
	return map[bool]string{true: "url", false: "chrooted"}[strings.HasPrefix(strings.ToLower(w.text("command")), "https://")]
}
