package field_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain/field"
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
	Order     uuid.UUID
	Options   []string
	Plans     []int64
	Metadata  json.RawMessage
	Zone      string
	CreatedAt time.Time
	Email     string
	Slug      string
	URL       string
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
		field.Int("quota", &s.Quota).Between(1, 100).Or(-1).Default(10),
		field.Flag("active", &s.Active).Default(true),
		field.Amount("price", &s.Price, 12, 4).Min(0).Places(2),
		field.Amount("setup", &s.Setup, 6, 2).Default("1.5"),
		field.Time("starts", &s.Starts),
		field.NullTime("ends", &s.Ends),
		field.UUID("order", &s.Order),
		field.Texts("options", &s.Options, func(f field.Field) field.Field { return f.Max(4) }).Between(1, 3),
		field.Refs("plans", &s.Plans),
		field.Any("metadata", &s.Metadata),
		field.Text("zone", &s.Zone).Once(),
		field.Time("created_at", &s.CreatedAt).ReadOnly(),
		field.Text("email", &s.Email).Is(field.Email),
		field.Text("slug", &s.Slug).Is(field.Slug),
		field.Text("url", &s.URL).Is(field.HTTPSURL),
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
		{
			`"name":"a\nb\u0000\ud800cd"`,
			`{"name":["Ensure this field has no more than 5 characters.","Null characters are not allowed.",` +
				`"Surrogate characters are not allowed: U+D800.","Line breaks are not allowed."]}`,
		},
		{`"domain":"a\u0000b"`, `{"domain":["Null characters are not allowed."]}`},
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
		{`"quota":0`, `{"quota":["Ensure this value is greater than or equal to 1."]}`},
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
		{
			`"starts":"2024-13-01"`,
			`{"starts":["Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z]."]}`,
		},
		{
			`"starts":5`,
			`{"starts":["Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z]."]}`,
		},
		{`"order":"x"`, `{"order":["Must be a valid UUID."]}`},
		{`"options":"x"`, `{"options":["Expected a list of items but got type \"str\"."]}`},
		{`"options":[]`, `{"options":["This list may not be empty."]}`},
		{`"options":["a","b","c","d"]`, `{"options":["Ensure this field has no more than 3 elements."]}`},
		{
			`"options":["long enough","ok",null]`,
			`{"options":{"0":["Ensure this field has no more than 4 characters."],"2":["This field may not be null."]}}`,
		},
		{`"metadata":{"a":["b\u0000c"]}`, `{"metadata":["Null characters are not allowed."]}`},
		{`"metadata":{"\u0000":1}`, `{"metadata":["Null characters are not allowed."]}`},
		{`"email":true`, `{"email":["Enter a valid email address."]}`},
		{`"email":[]`, `{"email":["Enter a valid email address."]}`},
		{`"slug":{}`, `{"slug":["Enter a valid \"slug\" consisting of letters, numbers, underscores or hyphens."]}`},
		{`"url":false`, `{"url":["Enter a valid URL."]}`},
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
		{`"quota":-1`, "quota", `-1`},
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
		{`"starts":"2024-01-01T10:00:00+0200"`, "starts", `"2024-01-01T08:00:00Z"`},
		{`"starts":"2024-01-01 10:00-02"`, "starts", `"2024-01-01T12:00:00Z"`},
		{`"starts":"2024-01-01T10:00:00.1234567Z"`, "starts", `"2024-01-01T10:00:00.123456Z"`},
		{`"ends":null`, "ends", `null`},
		{`"ends":"2024-01-01T00:00:00Z"`, "ends", `"2024-01-01T00:00:00Z"`},
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
