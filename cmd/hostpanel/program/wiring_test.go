package program_test

import (
	"reflect"
	"slices"
	"testing"

	"hostpanel/cmd/hostpanel/program"
	"hostpanel/cmd/hostpanel/programtest"
)

// An option that the program forgets to pass on compiles, and is missing only
// where it is used: zones without a name server are refused by the engine.
func TestTheProgramPassesOnEveryOption(t *testing.T) {
	p := programtest.Demo(t)
	server, hosting, storefront := p.Server(), program.HostingOf(p), program.StorefrontOf(p)
	for _, one := range []struct {
		options any
		mayBe   []string // empty
	}{
		{&hosting.Options, []string{"Forms"}}, // only of an engine outside the panel
		{&storefront.Options, nil},
		{&server.Settings, []string{
			"EngineWait", "Offers", "Abuse", "Factor", "Webhooks", "Trusted", "Origins", "LogAccess",
			"KeepDisputed", "Heartbeat", "Patience",
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
