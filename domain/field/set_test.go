package field_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

func TestDefaultsAreForCreationOnly(t *testing.T) {
	s := sample{Quota: 3}
	if wrong := decode(
		&s, `{"domain":"example.com"}`, field.Create,
	); wrong != "" || s.Quota != 10 || s.Theme != "light" || s.Setup.String() != "1.5" {
		t.Errorf("created %+v %s", s, wrong)
	}
	s = sample{Quota: 3, Domain: "example.com"}
	if wrong := decode(&s, `{"domain":"example.org"}`, field.Replace); wrong != "" || s.Quota != 3 || s.Domain != "example.org" {
		t.Errorf("replaced %+v %s", s, wrong)
	}
	if got := decode(&sample{}, `{}`, field.Replace); got != `{"domain":["This field is required."]}` {
		t.Errorf("replaced without what is required: %s", got)
	}
}

func TestAPatchOfNothingChangesNothing(t *testing.T) {
	s := sample{Domain: "example.com", Quota: 3}
	set, err := s.Fields().DecodeJSON([]byte(`{}`), field.Patch)
	if err != nil || len(set) != 0 || s.Quota != 3 {
		t.Errorf("set %v of %+v, %v", set, s, err)
	}
}

func TestWhatIsGivenOnceMayBeRepeatedButNotChanged(t *testing.T) {
	parent := int64(4)
	s := sample{Domain: "example.com", Zone: "a", Parent: &parent}
	if wrong := decode(&s, `{"zone":" a ","parent":"4"}`, field.Patch); wrong != "" {
		t.Error(wrong)
	}
	got := decode(&s, `{"parent":5,"zone":"b"}`, field.Patch)
	if got != `{"parent":["This field cannot be changed."],"zone":["This field cannot be changed."]}` {
		t.Error(got)
	}
	if s.Zone != "a" || *s.Parent != 4 {
		t.Errorf("changed to %s, %d", s.Zone, *s.Parent)
	}
}

func TestAListMayBeNullIfItSaysSo(t *testing.T) {
	var names, others []string
	s := field.Set{field.Texts("names", &names, nil).Min(1).OrNull(), field.Texts("others", &others, nil)}
	if _, err := s.DecodeJSON([]byte(`{"names":["a"],"others":null}`), field.Patch); err == nil ||
		err.Error() != "others: This field may not be null." {
		t.Error(err)
	}
	if got := string(s.AppendJSON(nil)); got != `{"names":["a"],"others":[]}` {
		t.Error(got)
	}
	if _, err := s.DecodeJSON([]byte(`{"names":null}`), field.Patch); err != nil || names != nil {
		t.Error(names, err)
	}
	if got := string(s.AppendJSON(nil)); got != `{"names":null,"others":[]}` || string(s.Values()["names"]) != "null" {
		t.Error(got)
	}
	if _, err := s.DecodeJSON([]byte(`{"names":[]}`), field.Patch); err == nil || err.Error() != "names: This list may not be empty." {
		t.Error(err)
	}
	if kind := fmt.Sprint(s.Schema(field.Shown)["properties"].(map[string]any)["names"].(map[string]any)["type"]); kind != "[array null]" {
		t.Error(kind)
	}
}

func TestTheLogKeepsWhatItLoads(t *testing.T) {
	s := sample{
		Domain: "example.com", Price: decimal.RequireFromString("1.2345"),
		Starts: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), Options: []string{"a"}, Metadata: json.RawMessage(`{}`),
	}
	var again sample
	if err := again.Fields().Load(s.Fields().Values()); err != nil {
		t.Fatal(err)
	}
	if got, want := string(again.Fields().AppendJSON(nil)), string(s.Fields().AppendJSON(nil)); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if err := again.Fields().Load(field.Values{"quota": json.RawMessage(`"x"`)}); err == nil {
		t.Error("a text was loaded as a number")
	}
}

func TestSecretsAreNeverShown(t *testing.T) {
	s := sample{Password: "correct horse"}
	if shown := string(s.Fields().AppendJSON(nil)); strings.Contains(shown, "password") || strings.Contains(shown, "horse") {
		t.Error(shown)
	}
	s.Fields().Seal(func(string) string { return "sealed" })
	if s.Password != "sealed" {
		t.Error(s.Password)
	}
}

type part struct{ A, B int64 }

func (p *part) Fields() field.Set {
	return field.Set{field.Int("a", &p.A), field.Int("b", &p.B).When(p.B > 0)}
}

type whole struct {
	Key   string
	Part  *part
	Parts []part
}

func (w *whole) Fields() field.Set {
	return field.Set{field.Text("key", &w.Key).OneTime(), field.Object("part", &w.Part), field.Objects("parts", &w.Parts)}
}

func ExampleSet_AppendJSON() {
	w := whole{Key: "shown once, <b>\u2028", Parts: []part{{1, 0}, {1, 2}}}
	fmt.Println(string(w.Fields().AppendJSON(nil)))
	w.Part = &part{A: 3}
	fmt.Println(string(w.Fields().AppendKept(nil)))
	// Output:
	// {"key":"shown once, <b>\u2028","part":null,"parts":[{"a":1},{"a":1,"b":2}]}
	// {"key":null,"part":{"a":3},"parts":[{"a":1},{"a":1,"b":2}]}
}

func TestErrorsOfSeveralCommandsAreOneBody(t *testing.T) {
	var wrong field.Errors
	wrong.Add("b", "one")
	wrong.Add("b", "two")
	err := fmt.Errorf("place: %w", &joined{[]error{wrong, domain.RefuseField("a", "three"), domain.Refuse(domain.Denied, "no")}})
	if got := string(field.ErrorsOf(err.(interface{ Unwrap() error }).Unwrap()).
		AppendJSON(nil)); got != `{"b":["one","two"],"a":["three"]}` {
		t.Error(got)
	}
	set := field.Set{field.Text("a", new(string)), field.Text("b", new(string))}
	if got := string(field.ErrorsOf(&joined{[]error{wrong, domain.RefuseField("a", "three")}}).In(set).
		AppendJSON(nil)); got != `{"a":["three"],"b":["one","two"]}` {
		t.Error(got)
	}
}

type joined struct{ errs []error }

func (j *joined) Error() string   { return "several" }
func (j *joined) Unwrap() []error { return j.errs }

func TestTheSchemaTellsWhatADeclarationSays(t *testing.T) {
	schema, err := json.Marshal(
		(&sample{}).Fields().Only("domain", "theme", "quota", "parent", "password", "created_at").Schema(field.Create),
	)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"properties":{"domain":{"format":"hostname","maxLength":253,"type":"string"},` +
		`"parent":{"format":"int64","type":["integer","null"]},` +
		`"password":{"maxLength":128,"minLength":8,"type":"string","writeOnly":true},` +
		`"quota":{"anyOf":[{"format":"int64","maximum":100,"minimum":1,"type":"integer"},{"const":-1}],` +
		`"default":10,"type":"integer"},` +
		`"theme":{"default":"light","enum":["light","dark"],"type":"string"}},"required":["domain"],"type":"object"}`
	if string(schema) != want {
		t.Errorf("\n got %s\nwant %s", schema, want)
	}
}

func TestAWrongDefaultPanicsWhenItIsDeclared(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	field.Set{field.Int("n", new(int64)).Default("x")}.Schema(field.Create)
}

func BenchmarkDecode(b *testing.B) {
	body := []byte(`{"domain":"example.com","plan":7,"name":"Ana","theme":"dark","quota":20,"active":false,"price":"2.99"}`)
	b.ReportAllocs()
	for b.Loop() {
		var s sample
		if _, err := s.Fields().DecodeJSON(body, field.Create); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkShow(b *testing.B) {
	s := sample{Domain: "example.com", CreatedAt: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)}
	var to []byte
	b.ReportAllocs()
	for b.Loop() {
		to = s.Fields().AppendJSON(to[:0])
	}
}
