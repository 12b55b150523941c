package hosting

import (
	"net/url"
	"regexp"
	"strings"

	"hostpanel/domain/field"
)

var cronJobs = Kind{
	Name: "cron_job", Class: "CronJob", Label: "cron job", Collection: "cron-jobs", EngineID: "hosting_cron_id", CanBeDisabled: true,
	Nouns:   map[string]string{"en": "cron job", "es": "tarea programada"},
	Plurals: map[string]string{"en": "Cron jobs", "es": "Tareas programadas"},
	Shown: words(
		"id tenant tenant_name site site_domain schedule command hosting_cron_id is_active sync_status sync_error created_at updated_at",
	),
	Names: siteDomain, Sets: [][]string{{"site", "schedule", "command"}}, Refs: []Reference{{Field: "site", Kind: "site", Parent: true}},
	Filters: []string{"site"}, Search: []string{"command"}, NamedBy: []string{"site", "schedule", "command"},
	NamedIn: true, Shape: shapeCronJob,
	Quota: "cron_jobs", Rationed: true, Verbs: All, Writers: Member, New: spec[CronJob],
}

// A CronJob calls a URL of the tenant's, or runs a command as a site's user.
type CronJob struct {
	Site              int64
	Schedule, Command string
	IsActive          bool
}

// Fields are the job.
func (j *CronJob) Fields() field.Set {
	return field.Set{
		field.Ref("site", &j.Site).Required().Once(),
		field.Text("schedule", &j.Schedule).Required().Is(field.Schedule).Doc(
			"Minute, hour, day, month and weekday; or @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually.",
		),
		field.Text("command", &j.Command).Required().Doc(
			"An https URL of one of the tenant's sites; a shell command where the package allows shells.",
		),
		field.Flag("is_active", &j.IsActive).Default(true),
	}
}

// shapeCronJob tells the engine five fields, which with the command are what it knows the job by.
func shapeCronJob(_ int64, o *EngineObject) {
	schedule := field.FiveFields(text(o.Values, "schedule"))
	o.Values["schedule"], o.Name = field.AppendText(nil, schedule), schedule+" "+text(o.Values, "command")
}

var anyURL = regexp.MustCompile(`^\w+://`)

// host is that of the command's URL; "": it is no https URL.
func (j *CronJob) host() string {
	u, err := url.Parse(j.Command)
	if err != nil || !field.HTTPSURL.Holds(j.Command) {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// near are the site's jobs with the same command, and the tenant's site that has the URL.
func (j *CronJob) near(tenant int64) []Query {
	same := Query{cronJobs.Name, map[string]any{"site": j.Site, "command": j.Command}}
	return []Query{same, {sites.Name, map[string]any{"tenant": tenant, "domain": j.host()}}}
}

func (j *CronJob) check(p Place, wrong *field.Errors) {
	may, twice := !anyURL.MatchString(j.Command) && !p.Limits.Lacks(ShellEnabled), false
	for _, other := range p.Beside {
		may = may || other["domain"] != nil && text(other, "domain") == j.host()
		twice = twice || other["command"] != nil && field.FiveFields(text(other, "schedule")) == field.FiveFields(j.Schedule)
	}
	switch {
	case p.Sent.Has("command") && !may && !wrong.Has("command"):
		wrong.Add("command", "Enter an https URL of one of the tenant's sites.")
	case twice && len(*wrong) == 0:
		wrong.Join(cronJobs.NotUnique(cronJobs.Sets[0]))
	}
}
