package order_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"hostpanel/domain"
	"hostpanel/domain/order"
)

// reread is an event after it went through the log.
func reread(t *testing.T, e order.Event) order.Event {
	t.Helper()
	written, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	read, err := domain.NewCatalogue(order.EventTypes).Decode(e.EventName(), 1, written)
	if err != nil {
		t.Fatal(err)
	}
	return read.(order.Event)
}

func equal(a, b order.Event) bool {
	one, errA := json.Marshal(a)
	two, errB := json.Marshal(b)
	return errA == nil && errB == nil && string(one) == string(two) && reflect.TypeOf(a) == reflect.TypeOf(b)
}
