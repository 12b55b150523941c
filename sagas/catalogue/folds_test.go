package catalogue_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
)

// The tests in this file ask every decider of the program, with histories of the events
// in the golden files, in any order: to fold is possible whatever has happened.

func TestAllDecidersButTheOneWithATextHaveSnapshots(t *testing.T) {
	s, _ := deciders(t)
	var without []string
	for _, category := range s.Categories() {
		if s[category].Number == "" {
			without = append(without, category)
		}
	}
	if !slices.Equal(without, []string{"webhook_endpoint"}) {
		t.Errorf("there are no snapshots of %v: JSON does not keep all of their states", without)
	}
}

// The first part of a history is folded and stored. The rest of it, folded behind what was
// stored, leads to the same state as the whole.
func TestAStoredStateIsExactlyWhatWasFolded(t *testing.T) {
	chances(t, func(t *testing.T, s folds, category string, history []sample) {
		var whole, stored any
		for i := range history {
			whole = s[category].Evolve(whole, history[i].event)
			stored = s[category].Evolve(stored, history[i].event)
			if i%3 == 0 {
				var err error
				if stored, err = s[category].Decode([]byte(encoded(t, stored))); err != nil {
					t.Fatal(err)
				}
			}
			if !isSame(reflect.ValueOf(whole), reflect.ValueOf(stored)) {
				t.Fatalf("after %s\n%#v\nis not\n%#v", history[i].name, stored, whole)
			}
		}
	})
}

// isSame compares states. An empty list is the same as none ([domain.Decider]).
func isSame(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Slice:
		if a.Type() == reflect.TypeFor[json.RawMessage]() && (a.Len() == 0 || b.Len() == 0) {
			return a.Len() == b.Len() || string(a.Bytes())+string(b.Bytes()) == "null"
		}
		same := a.Len() == b.Len()
		for i := 0; same && i < a.Len(); i++ {
			same = isSame(a.Index(i), b.Index(i))
		}
		return same
	case reflect.Map:
		same := a.Len() == b.Len()
		for each := a.MapRange(); same && each.Next(); {
			other := b.MapIndex(each.Key())
			same = other.IsValid() && isSame(each.Value(), other)
		}
		return same
	case reflect.Struct:
		if amount, is := a.Interface().(decimal.Decimal); is {
			return amount.Equal(b.Interface().(decimal.Decimal))
		}
		if a.NumField() > 0 && !a.Type().Field(0).IsExported() { // a time
			return reflect.DeepEqual(a.Interface(), b.Interface())
		}
		same := true
		for i := 0; same && i < a.NumField(); i++ {
			same = isSame(a.Field(i), b.Field(i))
		}
		return same
	case reflect.Pointer:
		return a.IsNil() == b.IsNil() && (a.IsNil() || isSame(a.Elem(), b.Elem()))
	default:
		return a.Equal(b)
	}
}

// No text that the log seals gets into a state, so none gets into a snapshot.
func TestNoStateDependsOnPersonalTexts(t *testing.T) {
	chances(t, func(t *testing.T, s folds, category string, history []sample) {
		var state, other any
		for i := range history {
			state, other = s[category].Evolve(state, history[i].event), s[category].Evolve(other, history[i].renamed)
			if !isSame(reflect.ValueOf(state), reflect.ValueOf(other)) || strings.Contains(encoded(t, other), canary) {
				t.Fatalf("%s leads to\n%#v\nand with other texts to\n%#v", history[i].name, state, other)
			}
		}
	})
}

// Decisions share the states in the cache: what one of them folds changes nothing of what
// another one has.
func TestToFoldAnEventLeavesTheStateBeforeAsItWas(t *testing.T) {
	chances(t, func(t *testing.T, s folds, category string, history []sample) {
		var state any
		for i := 1; i < len(history); i++ {
			state = s[category].Evolve(state, history[i-1].event)
			roomy(reflect.ValueOf(&state).Elem())
			before := encoded(t, state)
			one := s[category].Evolve(state, history[i].event)
			then := encoded(t, one)
			s[category].Evolve(state, history[(i*7)%len(history)].event)
			if encoded(t, state) != before || encoded(t, one) != then || !roomIsEmpty(reflect.ValueOf(state)) {
				t.Fatalf("%s has changed the state before it", history[i].name)
			}
		}
	})
}

// roomy gives the slices in a state's own fields room for more, which an append would use.
func roomy(state reflect.Value) {
	own := reflect.New(state.Elem().Type()).Elem()
	own.Set(state.Elem())
	if own.Kind() == reflect.Struct {
		for i := range own.NumField() {
			if f := own.Field(i); f.Kind() == reflect.Slice && f.Len() > 0 {
				more := reflect.MakeSlice(f.Type(), f.Len(), f.Len()+2)
				reflect.Copy(more, f)
				f.Set(more)
			}
		}
	}
	state.Set(own)
}

// roomIsEmpty tells whether nothing was appended in that room.
func roomIsEmpty(state reflect.Value) bool {
	if state.Kind() != reflect.Struct {
		return true
	}
	for i := range state.NumField() {
		f := state.Field(i)
		if f.Kind() != reflect.Slice {
			continue
		}
		for n := f.Len(); n < f.Cap(); n++ {
			if !f.Slice(0, f.Cap()).Index(n).IsZero() {
				return false
			}
		}
	}
	return true
}
