package order

import "encoding/json"

// Tells are the fields of the order as it was agreed.
func (e Placed) Tells() any { return e }

// Shows completes the fields of an order under the names that the API has for them.
func (o Order) Shows(record map[string]json.RawMessage) {
	record["order_number"] = record["number"]
	for _, inner := range []string{"number", "order", "provider", "at"} {
		delete(record, inner)
	}
}
