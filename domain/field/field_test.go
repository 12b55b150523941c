package field_test

import (
	"encoding/json"
	"fmt"
	"hostpanel/domain"
	"hostpanel/domain/field"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"
)

// sample has a field of every sort.
type sample struct {
	ID        int64
	Domain    string
	Plan      int64
	Parent    *int64
	Name      string
	Note      string
	Bio       string
	Password  string
	Theme     string
	Quota     int64
	Active    bool
	Price     decimal.Decimal
	Setup     decimal.Decimal
	Starts    time.Time
	Ends      *time.Time
	Day       time.Time
	Order     uuid.UUID
	Options   []string
	Plans     []int64
	Metadata  json.RawMessage
	Zone      string
	CreatedAt time.Time
}

func (s *sample) Fields() field.Set {
	return field.Set{
		field.Int("id", &s.ID).ReadOnly(),
		field.Text("domain", &s.Domain).Required().Is(field.Domain),
		field.Ref("plan", &s.Plan),
		field.NullRef("parent", &s.Parent).Once(),
		field.Text("name", &s.Name).Between(2, 5),
		field.Text("note", &s.Note).Default(""),
		field.Text("bio", &s.Bio).Lines().Max(2000).Default(""),
		field.Text("password", &s.Password).Verbatim().Secret().Between(8, 128),
		field.Text("theme", &s.Theme).Among("light", "dark").Default("light"),
		field.Int("quota", &s.Quota).Between(-1, 100).Default(10),
		field.Flag("active", &s.Active).Default(true),
		field.Amount("price", &s.Price, 12, 4).Min(0).Places(2),
		field.Amount("setup", &s.Setup, 6, 2).Default("1.5"),
		field.Time("starts", &s.Starts),
		field.NullTime("ends", &s.Ends),
		field.Date("day", &s.Day),
		field.UUID("order", &s.Order),
		field.Texts("options", &s.Options, func(f field.Field) field.Field { return f.Max(4) }).Between(1, 3),
		field.Refs("plans", &s.Plans),
		field.Any("metadata", &s.Metadata),
		field.Text("zone", &s.Zone).Once(),
		field.Time("created_at", &s.CreatedAt).ReadOnly(),
	}
}

func decode(s *sample, body string, mode field.Mode) string {
	_, err := s.Fields().DecodeJSON([]byte(body), mode)
	if err == nil {
		return ""
	}
	return string(field.ErrorsOf(err).AppendJSON(nil))
}

// Each message is the contract's, to the byte.
func TestFieldMessages(t *testing.T) {
	tests := []struct{ sent, want string }{
		{`"domain":"a_b"`, `{"domain":["Enter a valid domain name."]}`},
		{`"domain":null`, `{"domain":["This field may not be null."]}`},
		{`"domain":"  "`, `{"domain":["This field may not be blank."]}`},
		{`"domain":true`, `{"domain":["Not a valid string."]}`},
		{`"domain":["x"]`, `{"domain":["Not a valid string."]}`},
		{`"plan":"x"`, `{"plan":["Incorrect type. Expected pk value, received str."]}`},
		{`"plan":1.5`, `{"plan":["Incorrect type. Expected pk value, received float."]}`},
		{`"plan":true`, `{"plan":["Incorrect type. Expected pk value, received bool."]}`},
		{`"plan":[]`, `{"plan":["Incorrect type. Expected pk value, received list."]}`},
		{`"plan":{}`, `{"plan":["Incorrect type. Expected pk value, received dict."]}`},
		{`"plan":""`, `{"plan":["This field may not be null."]}`},
		{`"plan":99999999999999999999`, `{"plan":["Invalid pk \"99999999999999999999\" - object does not exist."]}`},
		{`"name":"abcdef"`, `{"name":["Ensure this field has no more than 5 characters."]}`},
		{`"name":"a"`, `{"name":["Ensure this field has at least 2 characters."]}`},
		{`"name":"a\nb\u0000\ud800cd"`, `{"name":["Ensure this field has no more than 5 characters.","Null characters are not allowed.","Surrogate characters are not allowed: U+D800.","Line breaks are not allowed."]}`},
		{`"note":"a\u2028b"`, `{"note":["Line breaks are not allowed."]}`},
		{`"password":12345678`, `{"password":["Not a valid string."]}`},
		{`"password":""`, `{"password":["This field may not be blank."]}`},
		{`"theme":"blue"`, `{"theme":["\"blue\" is not a valid choice."]}`},
		{`"theme":""`, `{"theme":["\"\" is not a valid choice."]}`},
		{`"theme":5`, `{"theme":["\"5\" is not a valid choice."]}`},
		{`"theme":true`, `{"theme":["\"True\" is not a valid choice."]}`},
		{`"theme":["a",{"b":null}]`, `{"theme":["\"['a', {'b': None}]\" is not a valid choice."]}`},
		{`"quota":3.5`, `{"quota":["A valid integer is required."]}`},
		{`"quota":true`, `{"quota":["A valid integer is required."]}`},
		{`"quota":""`, `{"quota":["A valid integer is required."]}`},
		{`"quota":"1_0"`, `{"quota":["A valid integer is required."]}`},
		{`"quota":"` + strings.Repeat("1", 1001) + `"`, `{"quota":["String value too large."]}`},
		{`"quota":101`, `{"quota":["Ensure this value is less than or equal to 100."]}`},
		{`"quota":-2`, `{"quota":["Ensure this value is greater than or equal to -1."]}`},
		{`"quota":99999999999999999999`, `{"quota":["Ensure this value is less than or equal to 100."]}`},
		{`"active":""`, `{"active":["Must be a valid boolean."]}`},
		{`"active":2`, `{"active":["Must be a valid boolean."]}`},
		{`"active":null`, `{"active":["This field may not be null."]}`},
		{`"price":"NaN"`, `{"price":["A valid number is required."]}`},
		{`"price":true`, `{"price":["A valid number is required."]}`},
		{`"price":""`, `{"price":["A valid number is required."]}`},
		{`"price":-1`, `{"price":["Ensure this value is greater than or equal to 0."]}`},
		{`"price":"1234567890123"`, `{"price":["Ensure that there are no more than 12 digits in total."]}`},
		{`"price":1e30`, `{"price":["Ensure that there are no more than 12 digits in total."]}`},
		{`"price":"1.00001"`, `{"price":["Ensure that there are no more than 4 decimal places."]}`},
		{`"price":123456789`, `{"price":["Ensure that there are no more than 8 digits before the decimal point."]}`},
		{`"starts":"2024-13-01"`, `{"starts":["Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z]."]}`},
		{`"starts":5`, `{"starts":["Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z]."]}`},
		{`"day":"1.1.24"`, `{"day":["Date has wrong format. Use one of these formats instead: YYYY-MM-DD."]}`},
		{`"order":"x"`, `{"order":["Must be a valid UUID."]}`},
		{`"options":"x"`, `{"options":["Expected a list of items but got type \"str\"."]}`},
		{`"options":[]`, `{"options":["This list may not be empty."]}`},
		{`"options":["a","b","c","d"]`, `{"options":["Ensure this field has no more than 3 elements."]}`},
		{`"options":["long enough","ok",null]`, `{"options":{"0":["Ensure this field has no more than 4 characters."],"2":["This field may not be null."]}}`},
		{`"metadata":{"a":["\udfff"]}`, `{"metadata":["Surrogate characters are not allowed: U+DFFF."]}`},
	}
	for _, test := range tests {
		body := `{"domain":"example.com",` + test.sent + `}`
		if strings.HasPrefix(test.sent, `"domain"`) {
			body = `{` + test.sent + `}`
		}
		if got := decode(&sample{}, body, field.Create); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.sent, got, test.want)
		}
	}
}

func TestAllFailingFieldsAreNamedInTheirOrder(t *testing.T) {
	got := decode(&sample{}, `{"quota":"x","nobody":"knows","theme":"x","id":"read-only"}`, field.Create)
	want := `{"domain":["This field is required."],"theme":["\"x\" is not a valid choice."],"quota":["A valid integer is required."]}`
	if got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

func TestOnlyObjectsAreRecords(t *testing.T) {
	for body, want := range map[string]string{
		`[]`: "Invalid data. Expected a dictionary, but got list.", `"x"`: "Invalid data. Expected a dictionary, but got str.",
		`1`: "Invalid data. Expected a dictionary, but got int.", `1.5`: "Invalid data. Expected a dictionary, but got float.",
		`true`: "Invalid data. Expected a dictionary, but got bool.", `null`: "No data provided",
	} {
		if got := decode(&sample{}, body, field.Create); got != `{"non_field_errors":["`+want+`"]}` {
			t.Errorf("%s: %s", body, got)
		}
	}
}

// What is sent in one of several forms is kept in one.
func TestCoercion(t *testing.T) {
	tests := []struct{ sent, name, shown string }{
		{`"domain":" Bücher.Example. "`, "domain", `"xn--bcher-kva.example"`},
		{`"name":5.50`, "name", `"5.50"`},
		{`"name":"  ab "`, "name", `"ab"`},
		{`"bio":"a\nb"`, "bio", `"a\nb"`},
		{`"plan":"7"`, "plan", `7`},
		{`"parent":""`, "parent", `null`},
		{`"parent":3`, "parent", `3`},
		{`"quota":3.0`, "quota", `3`},
		{`"quota":"3.0"`, "quota", `3`},
		{`"quota":" 4 "`, "quota", `4`},
		{`"quota":1e1`, "quota", `10`},
		{`"active":"No"`, "active", `false`},
		{`"active":0`, "active", `false`},
		{`"active":"T"`, "active", `true`},
		{`"active":"ON"`, "active", `true`},
		{`"price":"1e3"`, "price", `"1000.00"`},
		{`"price":2.50`, "price", `"2.50"`},
		{`"price":"2.555"`, "price", `"2.5550"`},
		{`"price":0`, "price", `"0.00"`},
		{`"starts":"2024-01-01 10:00"`, "starts", `"2024-01-01T10:00:00Z"`},
		{`"starts":"2024-01-01T10:00:00.12+02:00"`, "starts", `"2024-01-01T08:00:00.120000Z"`},
		{`"starts":"2024-01-01T10:00:00.1234567Z"`, "starts", `"2024-01-01T10:00:00.123456Z"`},
		{`"ends":null`, "ends", `null`},
		{`"ends":"2024-01-01T00:00:00Z"`, "ends", `"2024-01-01T00:00:00Z"`},
		{`"day":"2024-02-29"`, "day", `"2024-02-29"`},
		{`"order":"3F2504E0-4F89-41D3-9A0C-0305E82C3301"`, "order", `"3f2504e0-4f89-41d3-9a0c-0305e82c3301"`},
		{`"options":["a"," b "]`, "options", `["a","b"]`},
		{`"plans":["1",2]`, "plans", `[1,2]`},
		{`"metadata":{"a": [1.50, "<\u2028>"]}`, "metadata", `{"a":[1.50,"<\u2028>"]}`},
	}
	for _, test := range tests {
		var s sample
		body := `{"domain":"example.com",` + test.sent + `}`
		if test.name == "domain" {
			body = `{` + test.sent + `}`
		}
		if wrong := decode(&s, body, field.Create); wrong != "" {
			t.Errorf("%s: %s", test.sent, wrong)
		}
		if got := string(s.Fields().Only(test.name).AppendJSON(nil)); got != `{"`+test.name+`":`+test.shown+`}` {
			t.Errorf("%s is shown as %s", test.sent, got)
		}
	}
}

func TestDefaultsAreForCreationOnly(t *testing.T) {
	s := sample{Quota: 3}
	if wrong := decode(&s, `{"domain":"example.com"}`, field.Create); wrong != "" || s.Quota != 10 || s.Theme != "light" || s.Setup.String() != "1.5" {
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

func TestTheLogKeepsWhatItLoads(t *testing.T) {
	s := sample{Domain: "example.com", Price: decimal.RequireFromString("1.2345"), Starts: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), Options: []string{"a"}, Metadata: json.RawMessage(`{}`)}
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
	if got := string(field.ErrorsOf(err.(interface{ Unwrap() error }).Unwrap()).AppendJSON(nil)); got != `{"b":["one","two"],"a":["three"]}` {
		t.Error(got)
	}
	set := field.Set{field.Text("a", new(string)), field.Text("b", new(string))}
	if got := string(field.ErrorsOf(&joined{[]error{wrong, domain.RefuseField("a", "three")}}).In(set).AppendJSON(nil)); got != `{"a":["three"],"b":["one","two"]}` {
		t.Error(got)
	}
}

type joined struct{ errs []error }

func (j *joined) Error() string   { return "several" }
func (j *joined) Unwrap() []error { return j.errs }

func TestTheSchemaTellsWhatADeclarationSays(t *testing.T) {
	schema, err := json.Marshal((&sample{}).Fields().Only("domain", "theme", "quota", "parent", "password", "created_at").Schema(field.Create))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"properties":{"domain":{"format":"hostname","maxLength":253,"type":"string"},` +
		`"parent":{"format":"int64","type":["integer","null"]},"password":{"maxLength":128,"minLength":8,"type":"string","writeOnly":true},` +
		`"quota":{"default":10,"format":"int64","maximum":100,"minimum":-1,"type":"integer"},` +
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
