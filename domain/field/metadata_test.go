package field_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain/field"
)

// What a form has to know of a record follows from its fields.
func ExampleSet_Describe() {
	var (
		text, secret string
		number       int64
		parent       *int64
		on           bool
		at           time.Time
		price        decimal.Decimal
		names        []string
	)
	answer := field.Set{
		field.Int("id", &number).ReadOnly(),
		field.Text("slug", &text).Is(field.Slug).Default(""),
		field.Text("logo_url", &text).Is(field.HTTPSURL).Default(""),
		field.NullRef("parent", &parent).Doc("Another one."),
		field.Int("quota_mb", &number).Between(1, 10).Or(-1),
		field.Flag("is_active", &on).Default(true),
		field.Amount("price", &price, 10, 2).Min(0),
		field.Texts("names", &names, nil).Max(3),
		field.Time("created_at", &at).ReadOnly(),
		field.Text("key", &text).OneTime().When(false),
	}
	request := append(field.Set{field.Password("password", &secret).Required()}, answer...)
	for _, f := range request.Describe(field.Create, answer) {
		about, _ := json.Marshal(f.Metadata)
		fmt.Println(f.Name, strings.Replace(string(about), `"child"`, "\n  \"child\"", 1))
	}
	// Output:
	// id {"type":"integer","required":false,"read_only":true,"label":"ID"}
	// slug {"type":"slug","required":false,"read_only":false,"label":"Slug","max_length":255}
	// logo_url {"type":"url","required":false,"read_only":false,"label":"Logo url","max_length":2048}
	// parent {"type":"field","required":false,"read_only":false,"label":"Parent","help_text":"Another one."}
	// quota_mb {"type":"integer","required":false,"read_only":false,"label":"Quota mb","min_value":-1,"max_value":10}
	// is_active {"type":"boolean","required":false,"read_only":false,"label":"Is active"}
	// price {"type":"decimal","required":false,"read_only":false,"label":"Price","min_value":0,"max_digits":10,"decimal_places":2}
	// names {"type":"list","required":false,"read_only":false,"label":"Names","max_length":3,
	//   "child":{"type":"string","required":false,"read_only":false,"label":"","max_length":255}}
	// created_at {"type":"datetime","required":false,"read_only":true,"label":"Created at"}
	// password {"type":"string","required":true,"read_only":false,"label":"Password","min_length":8,"max_length":128}
}
