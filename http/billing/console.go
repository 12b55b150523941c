package billing

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/eventstore/clock"
	"hostpanel/http/billing/rfb"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// The console of a virtual server is its screen, in a browser. A call issues a ticket, and
// the ticket opens a WebSocket once (docs/machines-console.md).

// Consoles are the tickets for consoles, and what the log knows of them.
type Consoles interface {
	caller.Tickets
	// Issue makes a ticket; earlier ones for the same end.
	Issue(ctx context.Context, cause domain.Metadata, t hosting.ConsoleTicket) (ticket string, until time.Time, err error)
	// Open uses a ticket up, in the append that tells who has opened the console.
	Open(ctx context.Context, cause domain.Metadata, ticket string, t hosting.ConsoleTicket) error
}

// Screens connects to the screens of machines.
type Screens interface {
	// Screen connects to the screen of a running machine, in the RFB protocol. The password
	// is the one that the protocol's authentication asks for; "": none. ctx ends with the
	// connection.
	Screen(ctx context.Context, machine hosting.Ref) (screen io.ReadWriteCloser, password string, err error)
}

// ConsoleBounds are how long a console stays open; zero: the usual times.
type ConsoleBounds struct {
	Idle time.Duration // without the keyboard and the mouse; zero: 30 minutes
	Life time.Duration // in all; zero: 8 hours
}

const (
	consolesOfUser = 4   // at a time, in one process
	consolesInAll  = 200 // likewise
)

// With these codes consoles end.
var (
	accessEnded    = websocket.CloseError{Code: 4401, Reason: "The access has ended."}
	suspended      = websocket.CloseError{Code: 4403, Reason: "The virtual server is suspended."}
	leftIdle       = websocket.CloseError{Code: 4408, Reason: "The console was not used."}
	openedLongAgo  = websocket.CloseError{Code: 4409, Reason: "The console was open for long."}
	screenUnopened = websocket.CloseError{Code: rfb.ScreenFailed, Reason: "The screen cannot be had."}
)

var tenantSuspended = &route.Refusal{Status: http.StatusForbidden, Detail: "The tenant is suspended.", Code: "tenant_suspended"}

func (s *consoles) routes() []route.Route {
	ticket := route.Post(
		servicesPath+"{id:uuid}/vm/console/", "Ask for the console of a virtual server", s.issue,
	).As("service_console").Of("Service").For(s.callers.Writing()).Finding(s.services.find).Keeping("").Saying(
		"Who may call it: members of the tenant, and superusers. The ticket opens the console once, within a minute, for the " +
			"caller alone; that of a browser in its session alone. A newer ticket ends an older one.",
	)
	socket := route.Socket(servicesPath+"{id:uuid}/vm/console/ws/", "The console of a virtual server", s.open).
		As("service_console_socket").Of("Service").For(caller.Ticket(s.callers, s.consoles)).AtMost(consolesOfUser, 0).InAll(consolesInAll).
		Taking(field.Text(caller.TicketParam, new(string)).Doc("That was issued for it.")).
		Failing(http.StatusForbidden, "The ticket is not valid, the page is of another site, or the tenant is suspended.").
		Failing(http.StatusConflict, "The virtual server is suspended.").
		Saying("A WebSocket that carries the RFB protocol (RFC 6143) in binary messages, with the security type None. It is closed " +
			"with 1000 when the screen ends, 1001 when the program stops, 4401 when the access ends, 4403 when the tenant or the " +
			"server is suspended, 4408 after 30 minutes without use, 4409 after 8 hours, 4502 if the screen cannot be had.")
	return []route.Route{ticket, socket}
}

// An issuedTicket opens a console.
type issuedTicket struct {
	ticket, url string
	until       time.Time
}

// Fields are the ticket.
func (t *issuedTicket) Fields() field.Set {
	return field.Set{
		field.Text("ticket", &t.ticket).ReadOnly().Doc("For the parameter ticket of the WebSocket. It is shown once."),
		field.Text("url", &t.url).ReadOnly().Doc("Of the WebSocket, without the ticket."),
		field.Time("expires_at", &t.until).ReadOnly().Doc("Until when it has to be opened."),
	}
}

// issue makes a ticket for the machine of a service.
func (s *consoles) issue(ctx context.Context, c route.Call, _ *route.Nothing) (*issuedTicket, error) {
	t := caller.TicketFor(c)
	machine, err := s.machine(ctx, s.callers.Scope(c), c)
	if err != nil {
		return nil, err
	}
	t.Service, t.Machine = c.UUID("id"), machine.ID
	issued := &issuedTicket{url: socketAddress(c.URL(c.Path + "ws/"))}
	issued.ticket, issued.until, err = s.consoles.Issue(ctx, c.Cause(), t)
	return issued, err
}

// socketAddress is the address of a WebSocket: ws: instead of http:, wss: instead of https:.
func socketAddress(url string) string { return "ws" + strings.TrimPrefix(url, "http") }

// machine is the one of the service that the path names, if its console may be open.
func (s *consoles) machine(ctx context.Context, scope projections.Scope, c route.Call) (*projections.Resource, error) {
	service, err := scope.Billing().Service(ctx, c.UUID("id"), s.services.keepDisputed)
	if err != nil {
		return nil, err
	}
	made, err := scope.Hosting().MadeBy(ctx, service.OrderID)
	if err != nil {
		return nil, err
	}
	machine := newService(service, made).machine
	if machine == nil {
		return nil, route.Missing("VM")
	}
	closed, err := s.isClosed(ctx, machine.Tenant)
	switch {
	case err != nil:
		return nil, err
	case closed:
		return nil, tenantSuspended
	case len(machine.DisabledBy) > 0:
		return nil, hosting.ErrMachineSuspended
	}
	return machine, nil
}

// isClosed tells whether a tenant is suspended.
func (s *consoles) isClosed(ctx context.Context, tenant int64) (bool, error) {
	row, err := s.callers.System().Hosting().Resource(ctx, hosting.Ref{Kind: "tenant", ID: tenant})
	if err != nil {
		return false, err
	}
	var t hosting.Tenant
	err = row.Load(&t)
	return t.OutOfService(row.DisabledBy...), err
}

// open uses the ticket up.
func (s *consoles) open(ctx context.Context, c route.Call) (route.Conversation, error) {
	t := caller.TicketOf(c)
	if t.Service != c.UUID("id") {
		return nil, route.Missing("Service")
	}
	v := &console{consoles: s, call: c, ticket: t, relay: rfb.NewRelay(), since: clock.Now()}
	if err := v.mayStay(ctx, caller.Of(c)); err != nil {
		return nil, err
	}
	return v, s.consoles.Open(ctx, c.Cause(), c.Param(caller.TicketParam), t)
}

// A console is one that is open.
type console struct {
	*consoles
	call   route.Call
	ticket hosting.ConsoleTicket
	relay  *rfb.Relay
	since  time.Time
	beat   time.Time // the last heartbeat
}

// Speak connects the browser with the screen.
func (v *console) Speak(ctx context.Context, with *websocket.Conn) error {
	screen, password, err := v.screens.Screen(ctx, v.ticket.Ref())
	if err != nil {
		v.callers.Log().WarnContext(ctx, "a screen could not be opened", "machine", v.ticket.Machine, "err", err.Error())
		return screenUnopened
	}
	return v.relay.Run(ctx, with, screen, password)
}

// Still tells why the console ends: it was not used or open for long, its user has lost
// access, or the tenant or the machine is suspended.
func (v *console) Still(ctx context.Context) error {
	now, acted := clock.Now(), v.relay.ActedAt()
	switch {
	case now.Sub(v.since) > cmp.Or(v.bounds.Life, 8*time.Hour):
		return openedLongAgo
	case now.Sub(acted) > cmp.Or(v.bounds.Idle, 30*time.Minute):
		return leftIdle
	}
	acts := acted.After(v.beat)
	v.beat = now
	who, stands, err := caller.Bearer(ctx, v.callers, v.consoles.consoles, v.ticket, acts)
	switch {
	case err != nil:
		return err
	case !stands:
		return accessEnded
	}
	return closing(v.mayStay(ctx, who))
}

// mayStay tells whether a user may see the screen now.
func (v *console) mayStay(ctx context.Context, who caller.Identity) error {
	if who.ActiveTenant == nil && !who.IsSuperuser {
		return route.Missing("Service")
	}
	machine, err := v.machine(ctx, v.callers.Reading(who), v.call)
	if err == nil && machine.ID != v.ticket.Machine {
		err = route.Missing("VM")
	}
	return err
}

// closing is the code with which a refusal closes a console.
func closing(refusal error) error {
	switch {
	case errors.Is(refusal, tenantSuspended), errors.Is(refusal, hosting.ErrMachineSuspended):
		return suspended
	case domain.CodeOf(refusal) == domain.NotFound:
		return accessEnded
	}
	return refusal
}
