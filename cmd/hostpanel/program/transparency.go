package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/domain/operations"
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

// outsideTime bounds how long a start asks witnesses.
const outsideTime = 5 * time.Second

// logIsHeld holds the log against what is known of it outside: a checkpoint that was
// kept, and what the witnesses have cosigned. Without an answer the start goes on.
func logIsHeld(ctx context.Context, p *Program) error {
	if err := checkpointHolds(ctx, p); err != nil {
		return err
	}
	asked, cancel := context.WithTimeout(ctx, outsideTime)
	defer cancel()
	answers, err := p.Sealer.Ask(asked)
	if err != nil && (answers == nil || ctx.Err() != nil) {
		return eventstore.Unavailable(err)
	}
	for _, a := range answers {
		if a.Denied() {
			return fmt.Errorf(
				`the witness %s: %w: nothing is written until you decide (docs/operations.md, "A log that lost its end")`,
				a.Witness, a.Err,
			)
		}
	}
	for _, a := range answers {
		if a.Err != nil {
			p.Log.WarnContext(
				ctx, "a witness cannot say whether the log has all that it has cosigned", "witness", a.Witness,
				"error", a.Err,
			)
		}
		if a.Silent() {
			p.silent = append(p.silent, a.Witness)
			p.Report(ctx, operations.WitnessTrouble(a.Witness))
		}
	}
	return nil
}

func checkpointHolds(ctx context.Context, p *Program) error {
	if p.Config.Checkpoint == "" {
		return nil
	}
	text, err := os.ReadFile(p.Config.Checkpoint)
	if err != nil {
		return console.Misused("--checkpoint: %w", err)
	}
	err = p.Sealer.Holds(ctx, string(text))
	switch {
	case errors.Is(err, tree.ErrFormer):
		p.Log.WarnContext(ctx, "the log is not held against the checkpoint", "reason", err)
		return nil
	case errors.Is(err, tree.ErrForeign):
		return console.Misused("--checkpoint: %w", err)
	case errors.Is(err, tree.ErrShorter), errors.Is(err, tree.ErrUnlike), errors.Is(err, tree.ErrChanged):
		return fmt.Errorf(`--checkpoint: %w: nothing is written until you decide (docs/operations.md, "A log that lost its end")`, err)
	}
	return eventstore.Unavailable(err)
}

// hearWitnesses asks those that were silent at the start until they answer. One that has
// cosigned what the log does not have is an incident: events were written meanwhile.
func hearWitnesses(ctx context.Context, p *Program) {
	for len(p.silent) > 0 && ctx.Err() == nil {
		answers, err := p.Sealer.Ask(ctx)
		if err != nil && ctx.Err() == nil {
			p.Log.WarnContext(ctx, "witnesses are not asked", "error", err)
		}
		for _, a := range answers {
			if a.Silent() || !slices.Contains(p.silent, a.Witness) {
				continue
			}
			p.silent = slices.DeleteFunc(p.silent, func(name string) bool { return name == a.Witness })
			p.settle(ctx, operations.WitnessTrouble(a.Witness), "the witness has answered")
			if a.Denied() {
				p.Log.ErrorContext(ctx, "the log lacks what a witness has cosigned", "witness", a.Witness, "error", a.Err, "alarm", true)
				p.Report(ctx, operations.LogTrouble(1, "", fmt.Sprintf("the witness %s: %v", a.Witness, a.Err)))
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(p.Config.WitnessEvery):
		}
	}
}

var (
	unsealed    = describe("log_unsealed_events", "Events that the transparency log does not hold yet.")
	unsealedAge = describe("log_unsealed_age_seconds", "Age of the first of them.")

	waitsForRelease = describe("recovery_mode", "1: the panel was restored, and reaches nothing outside until an operator lets it.")

	witnessedAge = describe("log_witnessed_age_seconds", "Time since the quorum of witnesses has cosigned last; 0: none is needed.")
	troubled     = describe("log_witness_trouble", "1: the last answer of the witness was no cosignature.", "witness")
)

func (f figures) ofTransparency(ctx context.Context, to chan<- prometheus.Metric) error {
	lag, err := f.program.Sealer.Lag(ctx)
	if err != nil {
		return err
	}
	age := 0.0
	if lag.Since != nil {
		age = f.program.Store.Clock().Since(*lag.Since).Seconds()
	}
	to <- prometheus.MustNewConstMetric(unsealed, prometheus.GaugeValue, float64(lag.Events))
	to <- prometheus.MustNewConstMetric(unsealedAge, prometheus.GaugeValue, age)
	return f.ofWitnesses(ctx, to)
}

func (f figures) ofWitnesses(ctx context.Context, to chan<- prometheus.Metric) error {
	o, err := f.program.Sealer.Current(ctx)
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
	witnesses, err := f.program.Sealer.Witnesses(ctx, o)
	for _, w := range witnesses {
		to <- prometheus.MustNewConstMetric(troubled, prometheus.GaugeValue, map[bool]float64{true: 1}[w.Trouble != ""], w.Name)
	}
	return err
}
