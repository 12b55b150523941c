package notice

import "github.com/google/uuid"

// Incident tells an operator of a problem that needs one: its kind, such as
// "webhook_parked", and what it is about, by ids. It leads to the incident's page.
func Incident(id uuid.UUID, kind string, about map[string]string, language string) Text {
	var values []string
	for _, name := range []string{
		"webhook", "provider", "event", "position", "projection", "reader", "queue", "code", "lacks", "tenant", "kind",
		"id", "engine_id", "fields", "host", "file", "witness", "key", "server", "name", "external", "service",
	} {
		values = append(values, name, about[name])
	}
	return say(kind, language, values...).At(IncidentPage(id))
}

// toWatchers is what every superuser is told of each kind of incident.
var toWatchers = map[string]Type{
	"webhook_unmatched": Warning,
	"webhook_parked":    Warning,
	"task_parked":       Warning,
	"reaction_failed":   System,
	"log_broken":        System,
	"projection_failed": System,
	"access_refused":    Warning,
	"reader_stuck":      System,
	"erasures_not_kept": System,
	"witness_down":      Warning,
	"engine_orphan":     Warning,
	"engine_missing":    Warning,
	"engine_changed":    Warning,
	"machine_orphan":    Warning,
	"machine_stranger":  Warning,
	"engine_stuck":      Warning,
	"provider_down":     Warning,
	"recovery_mode":     System,
}
