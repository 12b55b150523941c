package eventstore

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"hostpanel/domain"
)

// rewritePersonal copies an event with other personal texts.
func rewritePersonal(e domain.Event, fields map[string]domain.Purpose, rewrite func(domain.Purpose, string) string) domain.Event {
	copied := reflect.New(reflect.TypeOf(e)).Elem()
	copied.Set(reflect.ValueOf(e))
	for _, f := range personalFields(copied.Type(), fields) {
		text := copied.FieldByIndex(f.index)
		text.SetString(rewrite(f.purpose, text.String()))
	}
	return copied.Interface().(domain.Event)
}

type personalField struct {
	index   []int
	purpose domain.Purpose
}

var personalTypes sync.Map // reflect.Type → []personalField

// personalFields finds the texts of an event type that the catalogue names.
// It panics if there is no such text: a declaration is wrong.
func personalFields(t reflect.Type, fields map[string]domain.Purpose) []personalField {
	if known, ok := personalTypes.Load(t); ok {
		return known.([]personalField)
	}
	var found []personalField
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if purpose, named := fields[name]; named && f.Type.Kind() == reflect.String {
			found = append(found, personalField{f.Index, purpose})
		}
	}
	if len(found) != len(fields) {
		panic(fmt.Sprintf("eventstore: %s does not have all the texts that are declared personal: %v", t, fields))
	}
	personalTypes.Store(t, found)
	return found
}
