package field_test

import (
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain/field"
)

// A bill is a record that answers, pages and the console show.
type bill struct {
	number, currency, status, note string
	total                          decimal.Decimal
	dueAt                          *time.Time
	late                           bool
}

func (b *bill) Fields() field.Set {
	return field.Set{
		field.Text("number", &b.number).Headed("invoice"),
		field.Amount("total", &b.total, 14, 2).In(&b.currency),
		field.Text("currency", &b.currency),
		field.Text("status", &b.status).Worded("state_"),
		field.NullTime("due_at", &b.dueAt),
	}
}

// Columns have a value that no answer has.
func (b *bill) Columns() field.Set {
	return append(b.Fields(), field.Text("note", &b.note).Fault().When(false), field.Flag("late", &b.late))
}

func TestATableChoosesColumnsOfARecordByTheirNames(t *testing.T) {
	columns := field.ColumnsOf[bill]("number", "total", "due_at", "status+note")
	b := &bill{number: "INV-1", currency: "EUR", status: "open", note: "sent back", total: decimal.RequireFromString("2.9")}
	cells := columns.Cells(field.Table(b))
	switch total, due := cells[1][0], cells[2][0]; {
	case len(cells) != 4 || len(cells[3]) != 2:
		t.Fatal(cells)
	case cells[0][0].Field.Head != "invoice" || cells[0][0].Text != "INV-1":
		t.Error(cells[0])
	case total.Amount == nil || !total.Amount.Equal(b.total) || total.Currency != "EUR" || !total.IsNumber:
		t.Error(total)
	case due.At != nil || due.Text != "" || !due.IsMoment:
		t.Error(due)
	case !cells[3][0].IsState || !cells[3][1].IsFault || cells[3][1].Text != "sent back":
		t.Error(cells[3])
	}
}

func TestAColumnThatTheRecordLacksIsRefusedAtTheStart(t *testing.T) {
	for _, name := range []string{"amount", "status+amount"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a table with the column %s was taken", name)
				}
			}()
			field.ColumnsOf[bill]("number", name)
		}()
	}
}

func TestWhatIsForTablesAloneStaysOutOfJSON(t *testing.T) {
	b := &bill{number: "INV-1", note: "sent back"}
	const want = `{"number":"INV-1","total":"0.00","currency":"","status":"","due_at":null,"late":false}`
	if got := string(field.Table(b).AppendJSON(nil)); got != want {
		t.Error(got)
	}
}
