package program

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"hostpanel/eventstore"
	"hostpanel/eventstore/clock"
	"hostpanel/eventstore/tlog/tree"
)

// logName names the transparency log by the public URL of the first seal: the
// address, without its scheme, at which observers find it.
func (p *Program) logName() string {
	_, host, _ := strings.Cut(p.PublicURL(), "://")
	return host + "/audit/log"
}

// logIsWhole refuses to work on a log that has lost sealed events: what would be written
// takes their places.
func (p *Program) logIsWhole(ctx context.Context) error {
	err := p.Sealer.Check(ctx)
	if errors.Is(err, tree.ErrShorter) || errors.Is(err, tree.ErrChanged) {
		return fmt.Errorf(`%w: nothing is written until you decide (docs/operations.md, "A log that lost its end")`, err)
	}
	return eventstore.Unavailable(err)
}

var (
	unsealed    = describe("log_unsealed_events", "Events that the transparency log does not hold yet.")
	unsealedAge = describe("log_unsealed_age_seconds", "Age of the first of them.")

	waitsForRelease = describe("recovery_mode", "1: the panel was restored, and reaches nothing outside until an operator lets it.")

	witnessedAge = describe("log_witnessed_age_seconds", "Time since the quorum of witnesses has cosigned last; 0: none is needed.")
	troubled     = describe("log_witness_trouble", "1: the last answer of the witness was no cosignature.", "witness")
)

func (f figures) ofTransparency(ctx context.Context, to chan<- prometheus.Metric) error {
	lag, err := f.Sealer.Lag(ctx)
	if err != nil {
		return err
	}
	age := 0.0
	if lag.Since != nil {
		age = f.Store.Clock().Since(*lag.Since).Seconds()
	}
	to <- prometheus.MustNewConstMetric(unsealed, prometheus.GaugeValue, float64(lag.Events))
	to <- prometheus.MustNewConstMetric(unsealedAge, prometheus.GaugeValue, age)
	return f.ofWitnesses(ctx, to)
}

func (f figures) ofWitnesses(ctx context.Context, to chan<- prometheus.Metric) error {
	o, err := f.Sealer.Current(ctx)
	if errors.Is(err, tree.ErrNone) {
		to <- prometheus.MustNewConstMetric(witnessedAge, prometheus.GaugeValue, 0)
		return nil
	}
	if err != nil {
		return err
	}
	age := 0.0
	if o.NeedsWitnesses() {
		age = clock.Since(o.Published.At).Seconds()
	}
	to <- prometheus.MustNewConstMetric(witnessedAge, prometheus.GaugeValue, age)
	witnesses, err := f.Sealer.Witnesses(ctx, o)
	for _, w := range witnesses {
		to <- prometheus.MustNewConstMetric(troubled, prometheus.GaugeValue, map[bool]float64{true: 1}[w.Trouble != ""], w.Name)
	}
	return err
}
