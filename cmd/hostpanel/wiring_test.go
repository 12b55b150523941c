package main

import (
	"reflect"
	"slices"
	"testing"
)

// An option that the program forgets to pass on compiles, and is missing only
// where it is used: zones without a name server are refused by the engine.
func TestTheProgramPassesOnEveryOption(t *testing.T) {
	p := newProgram(t)
	server, hosting, storefront := p.server(), p.hosting(), p.storefront()
	for _, one := range []struct {
		options any
		mayBe   []string // empty
	}{
		{&hosting.Options, nil},
		{&storefront.Options, nil},
		{&server.Settings, []string{"EngineWait", "Offers", "Abuse", "Webhooks", "Trusted"}},
		{server, []string{"HostedCheckout"}},
	} {
		options := reflect.ValueOf(one.options).Elem()
		for _, field := range reflect.VisibleFields(options.Type()) {
			if field.IsExported() && options.FieldByIndex(field.Index).IsZero() && !slices.Contains(one.mayBe, field.Name) {
				t.Errorf("%s has no %s", options.Type(), field.Name)
			}
		}
	}
}
