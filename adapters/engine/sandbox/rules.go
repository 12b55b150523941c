package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A rule is what the engine asks of one kind of object, and what becomes of
// it when others go.
type rule struct {
	check       func(hosting.EngineObject) error                       // of an object by itself
	under       string                                                 // the kind that it has to belong to
	loose       bool                                                   // or it belongs to none, and outlasts it
	goesWith    string                                                 // the kind that it is a part of: renamed and removed with it
	fits        func(o, parent hosting.EngineObject) bool              // its name, in what it belongs to
	secret      string                                                 // what a new one cannot be without
	renames     bool                                                   // its name may change
	tellsFormer bool                                                   // and a change of it tells the former name
	replaced    func(before, after hosting.EngineObject) bool          // a change makes another object of it
	adds        func(o, parent hosting.EngineObject) (observed, error) // what only the engine knows
	taken       string                                                 // the code when there is one of the name; "": name_taken
	issued      bool                                                   // it is ordered, issued after a while, and expires
	storage     bool                                                   // the engine measures the bytes that it stores
	traffic     bool                                                   // and its traffic
}

type observed map[string]string

// rules has a rule for each kind, in the file of the kind.
var rules = map[string]rule{}

func ruleOf(kind string) (rule, error) {
	r, known := rules[kind]
	if !known {
		return rule{}, domain.Fail(domain.Permanent, "not_supported", fmt.Errorf("the engine has no %s", kind))
	}
	return r, nil
}

// kindsThat are the kinds for which a condition holds, by name.
func kindsThat(hold func(kind string, r rule) bool) (names []string) {
	for kind, r := range rules {
		if hold(kind, r) {
			names = append(names, kind)
		}
	}
	slices.Sort(names)
	return names
}

// keptBy are the kinds whose objects keep one of this kind from being removed.
func keptBy(kind string) []string {
	return kindsThat(func(other string, r rule) bool {
		return kind == tenant && other != tenant || r.under == kind && r.goesWith == "" && !r.loose
	})
}

// partsOf are the kinds whose objects are parts of one of this kind.
func partsOf(kind string) []string {
	return kindsThat(func(_ string, r rule) bool { return r.goesWith == kind })
}

// fieldOf names the field of a part that says what it is a part of.
func fieldOf(kind string) string { return strings.TrimPrefix(kind, "dns_") }

var label = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// isDomain wants the stored form of a domain: lower case, punycode, no final dot.
func isDomain(name string) bool {
	labels := strings.Split(name, ".")
	return len(name) <= 253 && len(labels) >= 2 && !slices.ContainsFunc(labels, func(l string) bool { return !label.MatchString(l) })
}

func need(holds bool, otherwise string) error {
	if holds {
		return nil
	}
	return errors.New(otherwise)
}

// text is one text among the values; absent and null are "".
func text(o hosting.EngineObject, name string) (s string) {
	_ = json.Unmarshal(o.Values[name], &s)
	return s
}

func flag(o hosting.EngineObject, name string) (is bool) {
	_ = json.Unmarshal(o.Values[name], &is)
	return is
}

// remark adds what the engine knows to what it knew.
func (r rule) remark(o, parent hosting.EngineObject) (field.Values, error) {
	known := maps.Clone(o.Observed)
	if known == nil {
		known = field.Values{}
	}
	if r.adds == nil {
		return known, nil
	}
	more, err := r.adds(o, parent)
	for name, value := range more {
		known[name] = quoted(value)
	}
	return known, err
}
