package web

import (
	"slices"
	"testing"

	"github.com/shopspring/decimal"

	"hostpanel/domain/field"
)

type sold struct {
	id, number, currency, status, fault string
	holds                               []string
	total                               decimal.Decimal
}

func (s *sold) Fields() field.Set {
	return field.Set{
		field.Text("id", &s.id), field.Text("number", &s.number), field.Text("status", &s.status).Worded("order_"),
		field.Texts("holds", &s.holds, nil).Worded("hold_").Fault(),
		field.Amount("total", &s.total, 14, 2).In(&s.currency).Labelled("order_total"), field.Text("error", &s.fault).Fault(),
	}
}

func TestACardIsMadeOfTheFieldsOfItsRecord(t *testing.T) {
	w := Texts[English]
	of := &sold{id: "7", number: "ORD-1", currency: "EUR", status: "paid", holds: []string{"dispute"}, total: decimal.NewFromInt(3)}
	shown := w.Card(Cards{
		Page: "/orders/", Title: "number", Badges: []string{"status", "holds"}, Lines: []string{"number+total"},
		Note: []string{"status+error"}, Fault: "error",
	}, of.Fields())
	badges := []Badge{{"paid", w["order_paid"]}, {"failed", w["hold_dispute"]}}
	if shown.Path != "/orders/7/" || shown.Title != "ORD-1" || !slices.Equal(shown.Badges, badges) || shown.Fault != "" ||
		!slices.Equal(shown.Lines, []string{"ORD-1 · " + w.Money(of.total, "EUR")}) || !slices.Equal(
		shown.Note, []Aspect{{Text: w["order_paid"]}},
	) {
		t.Errorf("%+v", shown)
	}
	if facts := w.Values(of.Fields(), "total", "error"); !slices.Equal(
		facts, []Aspect{{Name: w["order_total"], Text: w.Money(of.total, "EUR")}},
	) {
		t.Errorf("%+v", facts)
	}
}

func TestAPageWithAFieldThatTheRecordLacksIsRefusedAtTheStart(t *testing.T) {
	for _, cards := range []Cards{
		{Title: "name"},
		{Title: "number", Badges: []string{"state"}},
		{Title: "number", Lines: []string{"total+sum"}},
		{Title: "number", Note: []string{"placed"}},
		{Title: "number", Fault: "wrong"},
		{Title: "number", Value: "sum"},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a page was declared with %+v", cards)
				}
			}()
			ViewList(List[sold]{Fields: (*sold).Fields, Cards: cards}, "/orders/", "Orders")
		}()
	}
}
