package program

import (
	"context"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"hostpanel/domain"
	"hostpanel/domain/notice"
	"hostpanel/domain/webhook"
	"hostpanel/sagas/notices"
)

// traffic counts what this process answers and sends.
type traffic struct {
	requests   *prometheus.CounterVec
	seconds    *prometheus.HistogramVec
	mails      *prometheus.CounterVec
	deliveries *prometheus.CounterVec
}

func newTraffic() *traffic {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: "hostpanel_" + name, Help: help}, labels)
	}
	t := &traffic{
		requests:   counter("http_requests_total", "Requests that were answered.", "method", "route", "status"),
		mails:      counter("mails_total", "Mails that were given to the mail server, by how it took them.", "result"),
		deliveries: counter("webhook_deliveries_total", "Webhooks sent to endpoints of tenants, by how they were taken.", "result"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hostpanel_http_request_seconds", Help: "How long answers took.", Buckets: []float64{.005, .025, .1, .5, 2.5, 10},
		}, []string{"method"}),
	}
	// A counter that first appears with failures in it never rises, so that no alert
	// would fire: all begin with zero.
	for _, result := range results {
		t.mails.WithLabelValues(result)
		t.deliveries.WithLabelValues(result)
	}
	return t
}

// counts are those of this process.
func (p *Program) counts() *traffic {
	p.counting.Do(func() { p.traffic = newTraffic() })
	return p.traffic
}

func (t *traffic) register(r prometheus.Registerer) {
	r.MustRegister(t.requests, t.seconds, t.mails, t.deliveries)
}

// methods are those of our routes, and what browsers ask besides.
var methods = []string{"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}

// answered counts an answer. The route is its template, never a path.
func (t *traffic) answered(method, route string, status int, took time.Duration) {
	if !slices.Contains(methods, method) {
		method = "other" // callers choose the word
	}
	t.requests.WithLabelValues(method, route, strconv.Itoa(status)).Inc()
	t.seconds.WithLabelValues(method).Observe(took.Seconds())
}

// done is the result of what was taken.
const done = "done"

// results are those that [resultOf] tells.
var results = []string{done, string(domain.Transient), string(domain.Unknown), string(domain.Permanent)}

// resultOf is "done", or the class of a failure.
func resultOf(err error) string {
	if err == nil {
		return done
	}
	return string(domain.ClassOf(err))
}

// countedMail counts the mails of another.
type countedMail struct {
	notices.Mail
	traffic *traffic
}

// Send passes a mail on.
func (c countedMail) Send(ctx context.Context, m notice.Mail) error {
	err := c.Mail.Send(ctx, m)
	c.traffic.mails.WithLabelValues(resultOf(err)).Inc()
	return err
}

// countedWebhooks counts the webhooks of another.
type countedWebhooks struct {
	notices.Webhooks
	traffic *traffic
}

// Deliver passes a message on.
func (c countedWebhooks) Deliver(ctx context.Context, url string, secrets [][]byte, m webhook.Message) (int, error) {
	status, err := c.Webhooks.Deliver(ctx, url, secrets, m)
	c.traffic.deliveries.WithLabelValues(resultOf(err)).Inc()
	return status, err
}

// pools are the connections of this process to the database.
type pools struct{ program *Program }

var (
	connectionsOpen = describe("pool_connections", "Connections of this process to the database.", "pool", "state")
	connectionsMost = describe("pool_connections_max", "Most connections that a pool opens.", "pool")
	connectionWaits = describe("pool_waits_total", "How often a connection was waited for.", "pool")
)

// Describe names the figures.
func (pools) Describe(to chan<- *prometheus.Desc) {
	to <- connectionsOpen
	to <- connectionsMost
	to <- connectionWaits
}

// Collect reads them.
func (p pools) Collect(to chan<- prometheus.Metric) {
	for name, pool := range map[string]*pgxpool.Pool{"work": p.program.Pool, "readers": p.program.Readers, "engine": p.program.turns} {
		if pool == nil {
			continue
		}
		s := pool.Stat()
		to <- prometheus.MustNewConstMetric(connectionsOpen, prometheus.GaugeValue, float64(s.AcquiredConns()), name, "used")
		to <- prometheus.MustNewConstMetric(connectionsOpen, prometheus.GaugeValue, float64(s.IdleConns()), name, "idle")
		to <- prometheus.MustNewConstMetric(connectionsMost, prometheus.GaugeValue, float64(s.MaxConns()), name)
		to <- prometheus.MustNewConstMetric(connectionWaits, prometheus.CounterValue, float64(s.EmptyAcquireCount()), name)
	}
}

// buildInfo is 1, with the version as a label.
func buildInfo() prometheus.Collector {
	b := BuildOf()
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "hostpanel_build_info", Help: "1, with what the program was built from.",
		ConstLabels: prometheus.Labels{"version": b.Version, "revision": b.Revision, "go": runtime.Version()},
	}, func() float64 { return 1 })
}
