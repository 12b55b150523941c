package route

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// A Conversation is what goes on over a WebSocket (docs/api.md, "WebSockets").
type Conversation interface {
	// Speak goes on until one side ends or ctx does. The error says with which code the
	// socket is closed, if it is a [websocket.CloseError].
	Speak(ctx context.Context, with *websocket.Conn) error
	// Still is asked with every heartbeat. An error ends the conversation.
	Still(context.Context) error
}

// Socket declares an endpoint whose answer is a WebSocket. open refuses the caller, or
// returns the conversation. Its access rule has to check where the page comes from.
func Socket(path, summary string, open func(context.Context, Call) (Conversation, error)) Route {
	return Route{
		Method: http.MethodGet, Path: path, Summary: summary, Status: http.StatusSwitchingProtocols, Cache: "no-store", Converse: open,
	}.
		Failing(http.StatusUpgradeRequired, "The request asks for no WebSocket.").
		Failing(http.StatusTooManyRequests, "Too many WebSockets are open.")
}

// The most that clients send in one message: more than noVNC ever does.
const socketMessage = 1 << 20

var noSocket = &Refusal{Status: http.StatusUpgradeRequired, Code: "upgrade_required", Detail: "The request asks for no WebSocket."}

// goingAway ends the conversations of a program that stops.
var goingAway = websocket.CloseError{Code: websocket.StatusGoingAway, Reason: "The program stops."}

// A socket is an answer that is a WebSocket.
type socket struct {
	x    *exchange
	c    Conversation
	with *websocket.Conn
}

// converse answers with a WebSocket. Everything that may be refused is refused before it
// opens.
func converse(x *exchange) error {
	if x.r.Method != http.MethodGet || !asksForSocket(x.r.Header) {
		x.w.Header().Set("Connection", "Upgrade")
		x.w.Header().Set("Upgrade", "websocket")
		return noSocket
	}
	leave, err := x.t.audience.enterSocket(x)
	if err != nil {
		return err
	}
	defer leave()
	c, err := x.route.Converse(x.r.Context(), x.call)
	if err == nil {
		err = x.settle()
	}
	if err != nil {
		return err
	}
	x.headers(x.w.Header())
	x.status = http.StatusSwitchingProtocols
	with, err := websocket.Accept(x.w, x.r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the access rule has checked the origin
		Subprotocols:       []string{"binary"},
	})
	if err != nil { // it has been answered
		x.status = http.StatusBadRequest
		return errAnswered
	}
	with.SetReadLimit(socketMessage)
	s := socket{x, c, with}
	s.close(s.hold())
	return errAnswered
}

func asksForSocket(h http.Header) bool {
	return strings.EqualFold(h.Get("Upgrade"), "websocket") && strings.Contains(strings.ToLower(h.Get("Connection")), "upgrade")
}

// hold returns why the conversation has ended. Its goroutine has ended by then too.
func (s socket) hold() error {
	ctx, cancel := context.WithCancel(s.x.whole)
	defer cancel()
	spoken := make(chan error, 1)
	go func() { spoken <- s.c.Speak(ctx, s.with) }()
	beat := time.NewTicker(s.x.t.options.Heartbeat)
	defer beat.Stop()
	for {
		why := error(nil)
		select {
		case err := <-spoken:
			return err
		case <-s.x.t.audience.sentHome:
			why = goingAway
		case <-beat.C:
			why = s.beat(ctx)
		}
		if why != nil {
			s.close(why) // before ctx ends, which would cut the connection
			cancel()
			<-spoken //nolint:errcheck // it ends with ctx
			return why
		}
	}
}

// beat asks whether the conversation may go on, and whether the client is there.
func (s socket) beat(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, writing)
	defer cancel()
	err := s.c.Still(ctx)
	var told websocket.CloseError
	if err != nil && !errors.As(err, &told) { // it cannot be told at the moment
		s.x.t.options.Log.WarnContext(ctx, "a WebSocket was not checked", "request_id", s.x.call.RequestID, "err", err.Error())
		err = nil
	}
	if err == nil {
		err = s.with.Ping(ctx)
	}
	return err
}

// close ends the connection with the code that the end of a conversation has.
func (s socket) close(why error) {
	var told websocket.CloseError
	switch {
	case errors.As(why, &told):
	case why == nil:
		told.Code = websocket.StatusNormalClosure
	default:
		told.Code = websocket.StatusInternalError
		s.x.t.options.Log.DebugContext(s.x.whole, "a WebSocket is cut", "request_id", s.x.call.RequestID, "err", why.Error())
	}
	_ = s.with.Close(told.Code, told.Reason) // the client may be gone
}
