package domain

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// A Cause says what led to an event or a run. The log stores it as a text with
// its kind: "event:order-6f1c…/3". Zero: it is not known.
type Cause struct{ text string }

// A CauseKind is the first part of a [Cause]. Kinds are stored and never change.
type CauseKind string

// Every kind but CausedByEvent is the root of a chain of causes.
const (
	CausedByEvent    CauseKind = "event"    // an earlier event of the log
	CausedByRequest  CauseKind = "request"  // a call of the API or of a page
	CausedByWebhook  CauseKind = "webhook"  // a message of a payment provider
	CausedByDeadline CauseKind = "deadline" // a moment that an earlier event has set
	CausedByOperator CauseKind = "operator" // a command of the program, at a console
)

// EventCause is the event at a version of a stream.
func EventCause(stream Stream, version int) Cause { return causeAt(CausedByEvent, stream, version) }

// DeadlineCause is a moment that the event at a version of a stream has set.
func DeadlineCause(stream Stream, version int) Cause {
	return causeAt(CausedByDeadline, stream, version)
}

// RequestCause is a request under the panel's own id of it.
func RequestCause(id uuid.UUID) Cause { return causeOf(CausedByRequest, id.String()) }

// OperatorCause is the command with this id.
func OperatorCause(id uuid.UUID) Cause { return causeOf(CausedByOperator, id.String()) }

// WebhookCause is a provider's message under the provider's own id of it.
func WebhookCause(provider, event string) Cause {
	return causeOf(CausedByWebhook, provider+"/"+event)
}

func causeAt(kind CauseKind, stream Stream, version int) Cause {
	return causeOf(kind, stream.String()+"/"+strconv.Itoa(version))
}

func causeOf(kind CauseKind, of string) Cause { return Cause{string(kind) + ":" + of} }

// ParseCause reads the stored text of a cause.
func ParseCause(text string) (Cause, error) {
	c := Cause{text}
	known := false
	switch c.Kind() {
	case CausedByEvent, CausedByDeadline:
		_, _, named := c.Event()
		first := text[strings.LastIndexByte(text, '/')+1:]
		known = named && '1' <= first[0] && first[0] <= '9' // as it is written
	case CausedByRequest, CausedByOperator:
		known = len(c.Of()) == 36 && strings.ToLower(text) == text && uuid.Validate(c.Of()) == nil
	case CausedByWebhook:
		provider, event, cut := strings.Cut(c.Of(), "/")
		known = cut && provider != "" && event != ""
	}
	if !known {
		return Cause{}, fmt.Errorf("%q is not a cause such as event:order-<id>/3", text)
	}
	return c, nil
}

// String is the stored text.
func (c Cause) String() string { return c.text }

// IsZero tells whether the cause is not known.
func (c Cause) IsZero() bool { return c.text == "" }

// Kind is the part before the colon.
func (c Cause) Kind() CauseKind {
	kind, _, _ := strings.Cut(c.text, ":")
	return CauseKind(kind)
}

// Of is the part behind the colon: an id, or where an event is found.
func (c Cause) Of() string {
	_, of, _ := strings.Cut(c.text, ":")
	return of
}

// Event is the event that a cause names: the cause itself, or what has set the
// deadline. False: it names none.
func (c Cause) Event() (stream Stream, version int, named bool) {
	if c.Kind() != CausedByEvent && c.Kind() != CausedByDeadline {
		return Stream{}, 0, false
	}
	cut := strings.LastIndexByte(c.text, '/')
	if cut < 0 {
		return Stream{}, 0, false
	}
	stream = StreamNamed(c.text[len(c.Kind())+1 : cut])
	version, err := strconv.Atoi(c.text[cut+1:])
	return stream, version, err == nil && version > 0 && stream.Category != "" && stream.ID != ""
}

// An Origin is what work is done for. It stands in the context of the work, so
// that all events that come of it have the same cause and correlation.
type Origin struct {
	Cause       Cause
	Correlation uuid.UUID // what belongs together; zero: a command of this work begins something new
}

type originKey struct{}

// With returns a context of work that is done for this origin.
func (o Origin) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf is what the work of a context is done for. Zero: it is not known.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}
