package program_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"hostpanel/cmd/hostpanel/program"
)

var (
	figureName = regexp.MustCompile(`hostpanel_[a-z_]+`)
	ofPart     = regexp.MustCompile(`_(bucket|sum|count)$`)
	fqName     = regexp.MustCompile(`fqName: "(hostpanel_[a-z_]+)"`)
)

// figureNames are those of all figures that /metrics can have.
func figureNames() map[string]bool {
	known := namesIn((&program.Program{}).Registry())
	known["hostpanel_streams_open"] = true
	return known
}

// namesIn are the names of our figures in a collector.
func namesIn(figures prometheus.Collector) map[string]bool {
	names, descriptions := map[string]bool{}, make(chan *prometheus.Desc, 1000)
	figures.Describe(descriptions)
	close(descriptions)
	for d := range descriptions {
		if m := fqName.FindStringSubmatch(d.String()); m != nil {
			names[m[1]] = true
		}
	}
	return names
}

// An alert or a panel on a figure that does not exist never shows anything.
func TestAlertsAndDashboardNameFiguresThatExist(t *testing.T) {
	known := figureNames()
	for _, file := range []string{"alerts.yml", "dashboard.json"} {
		text, err := os.ReadFile("../../../docs/monitoring/" + file)
		if err != nil {
			t.Fatal(err)
		}
		names := figureName.FindAllString(string(text), -1)
		if len(names) < 10 {
			t.Errorf("%s names %d figures", file, len(names))
		}
		for _, name := range names {
			if !known[name] && !known[ofPart.ReplaceAllString(name, "")] {
				t.Errorf("%s names %s, which does not exist", file, name)
			}
		}
	}
	text, err := os.ReadFile("../../../docs/monitoring/dashboard.json")
	if err != nil || !json.Valid(text) {
		t.Errorf("the dashboard is no JSON: %v", err)
	}
}

func TestEachFigureIsDescribedInTheManual(t *testing.T) {
	text, err := os.ReadFile("../../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"hostpanel_http_requests_total", "hostpanel_http_request_seconds", "hostpanel_mails_total",
		"hostpanel_webhook_deliveries_total",
		"hostpanel_pool_connections", "hostpanel_pool_connections_max", "hostpanel_pool_waits_total", "hostpanel_build_info",
	} {
		if !figureNames()[name] || !strings.Contains(string(text), name) {
			t.Errorf("%s is not a figure that docs/operations.md describes", name)
		}
	}
}
