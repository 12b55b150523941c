package console

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain/field"
)

type sale struct {
	number, currency, fault string
	total                   decimal.Decimal
	at                      time.Time
	paid                    bool
}

func (s *sale) Fields() field.Set {
	return field.Set{
		field.Text("number", &s.number).Headed("invoice"), field.Amount("total", &s.total, 14, 2).In(&s.currency),
		field.Time("created_at", &s.at).Headed("issued"), field.Flag("paid", &s.paid), field.Text("last_error", &s.fault).Fault(),
	}
}

func TestAListShowsTheColumnsOfItsRecords(t *testing.T) {
	sales := []sale{
		{number: "INV-1", currency: "EUR", total: decimal.NewFromInt(3), at: time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC), paid: true},
		{
			number: "INV-2", currency: "EUR", total: decimal.NewFromInt(12), at: time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC),
			fault: "no\nmoney",
		},
	}
	columns := field.ColumnsOf[sale]("number", "total", "created_at", "paid", "last_error")
	var b bytes.Buffer
	if err := List(Console{Out: &b}, false, sales, columns); err != nil {
		t.Fatal(err)
	}
	const want = `invoice      total  issued (UTC)         paid  last error
INV-1     3.00 EUR  2026-11-21 14:30:00  yes
INV-2    12.00 EUR  2026-11-22 00:00:00  no    no money
`
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
	b.Reset()
	var listed []map[string]any
	if err := List(Console{Out: &b}, true, sales, columns); err != nil || json.Unmarshal(b.Bytes(), &listed) != nil {
		t.Fatal(err, b.String())
	}
	if len(listed) != 2 || listed[1]["total"] != "12.00" || !strings.HasPrefix(b.String(), "[\n  {\n    \"number\"") {
		t.Errorf("%s", b.String())
	}
}
