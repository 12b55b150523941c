package notice_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/notice"
)

// Everything about an incident that operators read is filled in, in both
// languages.
func TestEveryIncidentHasWordsOfItsOwn(t *testing.T) {
	about := map[string]string{
		"webhook": "7", "provider": "stripe", "event": "order.activated", "position": "41", "projection": "orders",
		"reader": "sagas.reactions", "queue": "engine:main", "lacks": "login", "code": "engine_credentials",
		"tenant": "5", "kind": "site", "id": "7", "engine_id": "12", "fields": "php_version", "host": "panel.example",
		"file": "/srv/panel/erasures", "witness": "auditor", "key": "7",
		"server": "node1", "name": "vm7", "external": "101", "service": "6f1c",
	}
	id, seen := uuid.New(), map[string]bool{}
	for kind, want := range map[string]notice.Type{
		"webhook_unmatched": notice.Warning, "webhook_parked": notice.Warning, "provider_down": notice.Warning,
		"access_refused":  notice.Warning,
		"reaction_failed": notice.System, "log_broken": notice.System, "projection_failed": notice.System,
		"reader_stuck": notice.System, "erasures_not_kept": notice.System, "witness_down": notice.Warning,
		"engine_orphan": notice.Warning, "engine_missing": notice.Warning, "engine_changed": notice.Warning,
		"engine_stuck":   notice.Warning,
		"machine_orphan": notice.Warning, "machine_stranger": notice.Warning,
		"recovery_mode": notice.System, "task_parked": notice.Warning,
	} {
		for _, language := range []string{"es-MX", "en", "fr"} {
			told := notice.Incident(id, kind, about, language)
			if told.Type != want || told.URL != "/storefront/incidents/"+id.String()+"/" || told.Title == "" ||
				told.Message == "" || strings.ContainsAny(told.Message, "{}") || told.Template != kind {
				t.Errorf("%s in %s: %+v", kind, language, told)
			}
			seen[told.Title] = true
		}
		for _, language := range []string{"es", "en"} {
			if l, is := notice.Sample(kind, language); !is || strings.ContainsAny(l.News.Message, "{}") ||
				l.News.URL != notice.IncidentsPath {
				t.Errorf("sample of %s in %s: %+v", kind, language, l.News)
			}
		}
	}
	if len(seen) != 36 {
		t.Errorf("%d different titles", len(seen))
	}
}
