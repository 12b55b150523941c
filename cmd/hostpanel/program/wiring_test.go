package program_test

import (
	"reflect"
	"slices"
	"testing"

	"hostpanel/cmd/hostpanel/programtest"
	"hostpanel/sagas/hosting"
	"hostpanel/sagas/orders"
)

// An option that the program forgets to pass on compiles, and is missing only
// where it is used: zones without a name server are refused by the engine.
func TestTheProgramPassesOnEveryOption(t *testing.T) {
	server := programtest.Demo(t).Server()
	for _, one := range []struct {
		options any
		mayBe   []string // empty
	}{
		{&server.Hosting.(*hosting.Service).Options, []string{"Forms", "Hosts"}}, // only of an engine outside the panel
		{&server.Storefront.(*orders.Service).Options, nil},
		{&server.Settings, []string{
			"EngineWait", "Offers", "Abuse", "Factor", "Webhooks", "Trusted", "Origins", "LogAccess",
			"KeepDisputed", "Heartbeat", "Patience", "Consoles",
		}},
		{server, []string{"HostedCheckout", "Demo", "AsOf"}}, // serve adds the demo; a view of the past has a moment
	} {
		options := reflect.ValueOf(one.options).Elem()
		for _, field := range reflect.VisibleFields(options.Type()) {
			if field.IsExported() && options.FieldByIndex(field.Index).IsZero() && !slices.Contains(one.mayBe, field.Name) {
				t.Errorf("%s has no %s", options.Type(), field.Name)
			}
		}
	}
}
