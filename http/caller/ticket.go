package caller

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/hosting"
	"hostpanel/http/route"
)

// A WebSocket cannot bring the header of a token, so a ticket opens it, which the call before
// has issued (docs/security.md, "WebSockets").

// Tickets are those that open consoles.
type Tickets interface {
	// Read tells what a ticket opens. It is not used up. One that opens nothing is not found.
	Read(ctx context.Context, ticket string) (hosting.ConsoleTicket, error)
	// SessionStands tells whether a session of a browser has not ended. It counts as a visit
	// if the user has done something.
	SessionStands(ctx context.Context, user int64, session uuid.UUID, visit bool) (bool, error)
}

// TicketParam is the query parameter with the ticket.
const TicketParam = "ticket"

var wrongTicket = &route.Refusal{Status: http.StatusForbidden, Code: "ticket_not_valid", Detail: "The ticket is not valid."}

// A ticketHolder is the user to whom a ticket was issued.
type ticketHolder struct {
	Identity
	ticket hosting.ConsoleTicket
}

// TicketFor is a ticket for who makes the call, without what it opens.
func TicketFor(c route.Call) hosting.ConsoleTicket {
	who := Of(c)
	_, inBrowser := c.Caller.Detail.(Visit)
	return hosting.ConsoleTicket{User: who.ID, Version: who.SessionVersion, SignIn: SignInOf(c), InBrowser: inBrowser}
}

// TicketOf is the ticket that the call has brought.
func TicketOf(c route.Call) hosting.ConsoleTicket {
	h, _ := c.Caller.Detail.(ticketHolder)
	return h.ticket
}

// Ticket admits the user to whom a ticket was issued. One of a browser holds in the same
// session alone. What another site opens is refused as its forms are.
func Ticket(s *Callers, from Tickets) route.Access {
	return route.Access{
		Rule: "user with a ticket",
		Identify: func(ctx context.Context, r route.Request) (route.Caller, error) {
			ticket, err := from.Read(ctx, r.URL.Query().Get(TicketParam))
			if err != nil {
				return route.Caller{}, orWrongTicket(err)
			}
			who, stands, err := Bearer(ctx, s, from, ticket, true)
			if err != nil || !stands || ticket.InBrowser && !isSessionOf(ctx, s, r, ticket) {
				return route.Caller{}, orWrongTicket(err)
			}
			c := who.caller()
			c.Detail = ticketHolder{who, ticket}
			return c, nil
		},
		Admit: func(_ context.Context, r route.Request, _ route.Caller) error {
			if !s.isOwnPage(r) {
				return fromElsewhere
			}
			return nil
		},
	}
}

func orWrongTicket(err error) error {
	if err == nil || domain.CodeOf(err) == domain.NotFound {
		return wrongTicket
	}
	return err
}

// isSessionOf tells whether the browser has the session in which a ticket was issued.
func isSessionOf(ctx context.Context, s *Callers, r route.Request, t hosting.ConsoleTicket) bool {
	cookie, err := r.Cookie(s.CookieName(SessionCookie))
	if err != nil || !isCookieID(cookie.Value) {
		return false
	}
	session, known, err := s.deps.Sessions.PeekSession(ctx, cookie.Value)
	return err == nil && known && session.User == t.User && session.ID == t.SignIn
}

// Bearer is the user to whom a ticket was issued, as they are now. It tells whether the user
// is signed in still, as when the ticket was issued.
func Bearer(
	ctx context.Context, s *Callers, from Tickets, t hosting.ConsoleTicket, acts bool,
) (who Identity, stands bool, err error) {
	found, known, err := s.System().Accounts().Identity(ctx, t.User)
	who = Identity{found}
	if err != nil || !known || !who.IsActive || who.Email == "" || who.SessionVersion != t.Version {
		return who, false, err
	}
	if t.InBrowser {
		stands, err = from.SessionStands(ctx, t.User, t.SignIn, acts)
		return who, stands, err
	}
	return who, !s.IsEnded(ctx, Claims{Version: t.Version, SignIn: t.SignIn}, who), nil
}
