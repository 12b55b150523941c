package domain_test

import (
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain"
)

func TestACauseIsReadAsItWasStored(t *testing.T) {
	stream := domain.Stream{Category: "order", ID: "6f1c0d6c-bd0e-4a5e-8a4e-0d9c5f8a3c1a"}
	id := uuid.MustParse("0d6cbd0e-9a5e-4a4e-8d9c-5f8a3c1a7b22")
	for text, c := range map[string]domain.Cause{
		"event:order-6f1c0d6c-bd0e-4a5e-8a4e-0d9c5f8a3c1a/3":    domain.EventCause(stream, 3),
		"deadline:order-6f1c0d6c-bd0e-4a5e-8a4e-0d9c5f8a3c1a/1": domain.DeadlineCause(stream, 1),
		"request:0d6cbd0e-9a5e-4a4e-8d9c-5f8a3c1a7b22":          domain.RequestCause(id),
		"operator:0d6cbd0e-9a5e-4a4e-8d9c-5f8a3c1a7b22":         domain.OperatorCause(id),
		"webhook:stripe/evt_1/2":                                domain.WebhookCause("stripe", "evt_1/2"),
	} {
		read, err := domain.ParseCause(text)
		if err != nil || read != c || c.String() != text || string(c.Kind())+":"+c.Of() != text {
			t.Errorf("%s is read as %q of kind %q, written as %q: %v", text, read, read.Kind(), c, err)
		}
		of, version, named := c.Event()
		if wanted := c.Kind() == domain.CausedByEvent || c.Kind() == domain.CausedByDeadline; named != wanted ||
			named && (of != stream || version < 1) {
			t.Errorf("%s names event %d of %s: %v", text, version, of, named)
		}
	}
}

func TestATextThatIsNoCauseIsRefused(t *testing.T) {
	for _, text := range []string{
		"", "event", "event:", "event:order-1", "event:order-1/", "event:order-1/0", "event:order-1/-1",
		"event:order-1/x", "event:order-1/+1", "event:order/1", "event:-/1",
		"deadline:order-1", "request:", "request:7", "operator:root", "request:0D6CBD0E-9a5e-4a4e-8d9c-5f8a3c1a7b22",
		"webhook:stripe", "webhook:/evt_1", "webhook:stripe/", "clock:now",
	} {
		if c, err := domain.ParseCause(text); err == nil || !c.IsZero() {
			t.Errorf("%q is read as %q", text, c)
		}
	}
}

func TestTheOriginOfWorkStandsInItsContext(t *testing.T) {
	origin := domain.Origin{Cause: domain.RequestCause(uuid.New()), Correlation: uuid.New()}
	if got := domain.OriginOf(origin.With(t.Context())); got != origin {
		t.Errorf("the origin is %+v", got)
	}
	if got := domain.OriginOf(t.Context()); got != (domain.Origin{}) || !got.Cause.IsZero() {
		t.Errorf("without one it is %+v", got)
	}
}
