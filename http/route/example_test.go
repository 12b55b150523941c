package route_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"strings"

	"hostpanel/domain/field"
	"hostpanel/http/route"
)

type ticket struct {
	Number int64
	Title  string
}

func (t *ticket) Fields() field.Set {
	return field.Set{
		field.Int("number", &t.Number).ReadOnly(),
		field.Text("title", &t.Title).Required(),
	}
}

// One declaration gives an endpoint its place in the router, its access rule, the checks of its
// request, the form of its answer, and its entry in the API document.
func Example() {
	tickets := map[int64]*ticket{}
	table := route.Mount(route.Options{Title: "Tickets", Version: "1", Log: slog.New(slog.DiscardHandler)}, route.Area{
		Name: "tickets", Prefix: "/tickets/", Access: route.Open,
		Routes: []route.Route{
			route.Post("/tickets/", "Open a ticket", func(_ context.Context, _ route.Call, t *ticket) (*ticket, error) {
				t.Number = int64(len(tickets) + 1)
				tickets[t.Number] = t
				return t, nil
			}).As("ticket_create"),
			route.Get("/tickets/{number:int}/", "Show a ticket", func(_ context.Context, c route.Call) (*ticket, error) {
				if t, is := tickets[c.ID("number")]; is {
					return t, nil
				}
				return nil, route.Missing("Ticket")
			}).As("ticket_show").Of("Ticket"),
		},
	})
	for _, call := range [][3]string{
		{"POST", "/tickets/", `{"title": "No mail"}`},
		{"POST", "/tickets/", `{"title": ""}`},
		{"GET", "/tickets/1/", ""},
		{"GET", "/tickets/2/", ""},
		{"DELETE", "/tickets/1/", ""},
	} {
		request := httptest.NewRequest(call[0], call[1], strings.NewReader(call[2]))
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		table.ServeHTTP(answer, request)
		fmt.Println(call[0], call[1], answer.Code, strings.TrimSpace(answer.Body.String()))
	}
	// Output:
	// POST /tickets/ 201 {"number":1,"title":"No mail"}
	// POST /tickets/ 400 {"title":["This field may not be blank."]}
	// GET /tickets/1/ 200 {"number":1,"title":"No mail"}
	// GET /tickets/2/ 404 {"detail":"No Ticket matches the given query."}
	// DELETE /tickets/1/ 405 {"detail":"Method \"DELETE\" not allowed."}
}
