//go:build system

package program_test

import (
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"hostpanel/tests/processtest"
)

// A worker tells whether it is well, and its figures, without the API.
func TestAWorkerTellsItsHealthAndFigures(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, free.Close())
	h := processtest.NewHome(t)
	w := h.Launch("worker", "--health", free.Addr().String())
	w.Base = "http://" + free.Addr().String()
	processtest.Eventually(t, "the worker answers", func() bool {
		a, err := processtest.Call(t.Context(), "GET", w.Base+"/readyz", "")
		return err == nil && a.Status == 200
	})
	w.Ask(200, "GET", "/healthz", "")
	for _, name := range []string{
		"hostpanel_up 1", "hostpanel_build_info{",
		`hostpanel_pool_connections{pool="work",state="used"}`,
	} {
		if said := w.Ask(200, "GET", "/metrics", "").Body; !strings.Contains(said, name) {
			t.Errorf("%s is missing:\n%s", name, said)
		}
	}
	w.End(syscall.SIGTERM)
	if w.Err != nil {
		t.Errorf("it ends with %v: %s", w.Err, w.Stderr())
	}
}

var (
	figureName = regexp.MustCompile(`hostpanel_[a-z_]+`)
	inScrape   = regexp.MustCompile(`(?m)^(hostpanel_[a-z_]+)[ {]`)
)

// What alerts and dashboard ask for is in a scrape of a panel that nothing has
// happened in yet: an alert on a figure that is missing does not fire.
func TestEachFigureOfAlertsAndDashboardIsInAScrape(t *testing.T) {
	t.Parallel()
	r := processtest.NewHome(t).Start()
	r.Ask(200, "GET", "/login/", "") // one answer, to be counted
	for _, file := range []string{"alerts.yml", "dashboard.json"} {
		text, err := os.ReadFile("../../docs/monitoring/" + file)
		must(t, err)
		names := figureName.FindAllString(string(text), -1)
		if len(names) < 10 {
			t.Errorf("%s names %d figures", file, len(names))
		}
		var missing []string
		defer func() { t.Logf("missing of %s: %v", file, missing) }()
		processtest.Eventually(t, "each figure is there: "+file, func() bool {
			scraped := map[string]bool{}
			for _, line := range inScrape.FindAllStringSubmatch(r.Ask(200, "GET", "/metrics", "").Body, -1) {
				scraped[line[1]] = true
			}
			missing = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return scraped[name] })
			return len(missing) == 0
		})
	}
	r.Stop()
}

// A newcomer is told where to go, and sees there what a request counts.
func TestADemoTellsWhereToGoAndCountsAnswers(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	r := h.Start()
	processtest.Eventually(t, "the welcome", func() bool { return strings.Contains(r.Said.String(), "hostpanel doctor") })
	said := r.Said.String()
	shop := strings.Replace(r.Base, "127.0.0.1", "localhost", 1) + "/demo/shop/"
	for _, want := range []string{r.Base + "/login/", "admin@localhost", "demo.json", shop, r.Base + "/demo/mail/"} {
		if !strings.Contains(said, want) {
			t.Errorf("%s is missing: %s", want, said)
		}
	}
	if strings.Contains(said, h.Demo().Superuser.Password) {
		t.Error("the password is shown")
	}
	if strings.Contains(said, "token=") {
		t.Error("a link that signs in is shown where it may be kept")
	}
	r.Ask(200, "GET", "/demo/shop/", "")
	r.Ask(200, "GET", "/demo/mail/", "")
	r.Ask(200, "GET", "/login/", "")
	processtest.Within(t, "the answer is counted", 10*time.Second, func() bool {
		return strings.Contains(r.Ask(200, "GET", "/metrics", "").Body,
			`hostpanel_http_requests_total{method="GET",route="/login/",status="200"} `)
	})
	r.Stop()
}
