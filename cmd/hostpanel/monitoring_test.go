package main

import (
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A worker tells whether it is well, and its figures, without the API.
func TestAWorkerTellsItsHealthAndFigures(t *testing.T) {
	t.Parallel()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, free.Close())
	h := newHome(t)
	w := h.launch("worker", "--health", free.Addr().String())
	w.base = "http://" + free.Addr().String()
	eventually(t, "the worker answers", patience, func() bool {
		a, err := call(t.Context(), "GET", w.base+"/readyz", "")
		return err == nil && a.status == 200
	})
	w.ask(200, "GET", "/healthz", "")
	for _, name := range []string{"hostpanel_up 1", "hostpanel_build_info{", `hostpanel_pool_connections{pool="work",state="used"}`} {
		if said := w.ask(200, "GET", "/metrics", "").body; !strings.Contains(said, name) {
			t.Errorf("%s is missing:\n%s", name, said)
		}
	}
	w.end(syscall.SIGTERM)
	if w.err != nil {
		t.Errorf("it ends with %v: %s", w.err, w.stderr())
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
	r := newHome(t).start()
	r.ask(200, "GET", "/login/", "") // one answer, to be counted
	for _, file := range []string{"alerts.yml", "dashboard.json"} {
		text, err := os.ReadFile("../../docs/monitoring/" + file)
		must(t, err)
		names := figureName.FindAllString(string(text), -1)
		if len(names) < 10 {
			t.Errorf("%s names %d figures", file, len(names))
		}
		var missing []string
		defer func() { t.Logf("missing of %s: %v", file, missing) }()
		eventually(t, "each figure is there: "+file, patience, func() bool {
			scraped := map[string]bool{}
			for _, line := range inScrape.FindAllStringSubmatch(r.ask(200, "GET", "/metrics", "").body, -1) {
				scraped[line[1]] = true
			}
			missing = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return scraped[name] })
			return len(missing) == 0
		})
	}
	r.stop()
}

// A newcomer is told where to go, and sees there what a request counts.
func TestADemoTellsWhereToGoAndCountsAnswers(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	r := h.start()
	eventually(t, "the welcome", patience, func() bool { return strings.Contains(r.said.String(), "hostpanel doctor") })
	said := r.said.String()
	shop := strings.Replace(r.base, "127.0.0.1", "localhost", 1) + "/demo/shop/"
	for _, want := range []string{r.base + "/login/", "admin@localhost", "demo.json", shop, r.base + "/demo/mail/"} {
		if !strings.Contains(said, want) {
			t.Errorf("%s is missing: %s", want, said)
		}
	}
	if strings.Contains(said, h.demo().Superuser.Password) {
		t.Error("the password is shown")
	}
	if strings.Contains(said, "token=") {
		t.Error("a link that signs in is shown where it may be kept")
	}
	r.ask(200, "GET", "/demo/shop/", "")
	r.ask(200, "GET", "/demo/mail/", "")
	r.ask(200, "GET", "/login/", "")
	eventually(t, "the answer is counted", 10*time.Second, func() bool {
		return strings.Contains(r.ask(200, "GET", "/metrics", "").body, `hostpanel_http_requests_total{method="GET",route="/login/",status="200"} `)
	})
	r.stop()
}
