package route

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// A Following tells what happens, from the moment at which it was begun
// (docs/api.md, "Streams").
type Following interface {
	// Ready is sent to when there may be something to tell.
	Ready() <-chan struct{}
	// Next is what there is to tell since it was last asked, and the position
	// up to which that is everything. With [io.EOF] it is the last of it. The
	// call is that of the caller as they are by now.
	Next(context.Context, Call) (told []Told, at int64, err error)
	Close()
}

// Told is one event of a stream.
type Told struct {
	Name     string // "notification"
	Position int64  // in the log, of what has happened
	Body     Answer
}

// FromNow is where a stream begins for callers who name no position.
const FromNow = -1

// Stream declares an endpoint whose answer does not end: it shows A's as
// server-sent events. follow begins behind a position of the log, or
// [FromNow]; without an error and without a Following there is nothing to come
// ever, which is answered with 204.
func Stream[A any, PA record[A]](path, summary string, follow func(ctx context.Context, c Call, after int64) (Following, error)) Route {
	return Route{
		Method: http.MethodGet, Path: path, Summary: summary, Status: http.StatusOK, Cache: "no-store", Follow: follow,
		Answer: Shape{Fields: fieldsOf[A, PA], Mode: field.Shown},
	}.
		Hearing(
			field.Int("Last-Event-ID", new(int64)).Doc("The id of the last event that was seen; what has happened since then comes first."),
		).
		Taking(field.Int("last_event_id", new(int64)).Doc("The same, for clients that cannot send the header, which counts first.")).
		Failing(http.StatusBadRequest, "The last event's id is no number, or ahead of everything that has happened.").
		Failing(http.StatusNotAcceptable, "The answer would be text/event-stream.").
		Failing(http.StatusTooManyRequests, "Too many calls, or too many streams are open.")
}

// AtMost bounds how many streams of the route may be open at a time and
// process: of one caller, and of one address. 0: any number.
func (r Route) AtMost(caller, address int) Route {
	r.perCaller, r.perAddress = caller, address
	return r
}

// InAll bounds how many streams of the route may be open at a time and process.
func (r Route) InAll(most int) Route { r.perRoute = most; return r }

const (
	comeBackAfter = "retry: 2000\n\n" // milliseconds
	heartbeat     = 15 * time.Second
	writing       = 10 * time.Second // that a client may take to read what is sent
)

// follow answers with a stream. Everything that may be refused is refused
// before it begins.
func (x *exchange) follow() error {
	after, err := x.lastEventID()
	if err != nil {
		return err
	}
	leave, err := x.t.audience.enter(x)
	if err != nil {
		return err
	}
	defer leave()
	f, err := x.route.Follow(x.r.Context(), x.call, after)
	if f != nil {
		defer f.Close()
	}
	if err == nil {
		err = x.settle()
	}
	switch {
	case err != nil:
		return err
	case f == nil:
		x.headers(x.w.Header())
		x.send(http.StatusNoContent, nil)
	default:
		x.tell(f)
	}
	return errAnswered
}

// lastEventID is where the caller has been before.
func (x *exchange) lastEventID() (int64, error) {
	text := x.r.Header.Get("Last-Event-ID")
	if text == "" {
		text = x.call.Param("last_event_id")
	}
	if text == "" {
		return FromNow, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil || n > math.MaxInt64 {
		return 0, domain.RefuseField("last_event_id", "A valid integer is required.")
	}
	return int64(n), nil
}

// A stream is an answer that goes on.
type stream struct {
	x         *exchange
	to        *http.ResponseController
	following Following
}

// tell sends events until there are no more, the caller goes, or may no
// longer be told, or the program stops.
func (x *exchange) tell(f Following) {
	s := stream{x, http.NewResponseController(x.w), f}
	h := x.w.Header()
	x.headers(h)
	h.Set("Content-Type", eventStream)
	h.Set("X-Accel-Buffering", "no")
	x.status = http.StatusOK
	x.w.WriteHeader(x.status)
	if x.r.Method == http.MethodHead {
		return
	}
	_ = s.to.SetReadDeadline(time.Time{})                                        // else the connection ends with the patience for requests
	defer func() { _ = s.to.SetWriteDeadline(x.t.options.Now().Add(writing)) }() // for the end of the answer
	if s.next([]byte(comeBackAfter), false) {
		s.goOn()
	}
}

const eventStream = "text/event-stream"

func (s *stream) goOn() {
	beat := time.NewTicker(s.x.t.options.Heartbeat)
	defer beat.Stop()
	for going := true; going; {
		select {
		case <-s.x.whole.Done():
			return
		case <-s.x.t.audience.sentHome:
			return
		case <-s.following.Ready():
			going = s.next(nil, false)
		case <-beat.C:
			going = s.mayStill() && s.next(nil, true)
		}
	}
}

// next sends what there is to tell, behind what is to be sent in any case. A
// heartbeat says where the client is by now, so that a client without events
// for long does not return from far behind.
func (s *stream) next(send []byte, beat bool) (going bool) {
	ctx, cancel := context.WithTimeout(s.x.whole, s.x.t.options.Timeout)
	defer cancel()
	told, at, err := s.following.Next(ctx, s.x.call)
	for _, event := range told {
		send = event.append(send)
	}
	if beat && err == nil {
		send = append(strconv.AppendInt(append(send, ":\nid: "...), at, 10), "\n\n"...)
	}
	if err != nil && !errors.Is(err, io.EOF) {
		s.x.t.options.Log.DebugContext(s.x.whole, "a stream is cut", "request_id", s.x.call.RequestID, "err", err.Error())
	}
	return s.send(send) && err == nil
}

func (t Told) append(b []byte) []byte {
	b = append(append(b, "event: "...), t.Name...)
	b = strconv.AppendInt(append(b, "\nid: "...), t.Position, 10)
	return append(t.Body.AppendJSON(append(b, "\ndata: "...)), "\n\n"...)
}

// send gives the client a while for what is sent at once.
func (s *stream) send(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	err := s.to.SetWriteDeadline(s.x.t.options.Now().Add(writing))
	if err == nil || errors.Is(err, http.ErrNotSupported) {
		_, err = s.x.w.Write(b)
	}
	if err == nil {
		err = s.to.Flush()
	}
	return err == nil
}

// mayStill asks again who the caller is and whether they are let in. As long
// as that cannot be told, there is nothing to be told to them either.
func (s *stream) mayStill() bool {
	ctx, cancel := context.WithTimeout(s.x.whole, s.x.t.options.Timeout)
	defer cancel()
	request := s.x.request()
	request.Fresh = true
	caller, err := s.x.access.Identify(ctx, request)
	if err == nil && s.x.access.Admit != nil {
		err = s.x.access.Admit(ctx, request, caller)
	}
	if err != nil {
		refusal := s.x.t.refusalOf(err)
		return refusal == nil || refusal.Status >= http.StatusInternalServerError
	}
	same := caller.Principal == s.x.call.Caller.Principal
	s.x.call.Caller = caller
	return same
}
