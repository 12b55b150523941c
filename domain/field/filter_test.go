package field_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain/field"
)

type filters struct {
	Type   string
	Active bool
	Plan   int64
	Quota  int64
	Order  uuid.UUID
	Since  time.Time
	IDs    []int64
	Name   string
	Note   *string
	Slugs  []string
	Parent *int64
	Until  *time.Time
}

func (f *filters) Fields() field.Set {
	return field.Set{
		field.Text("type", &f.Type).Among("hosting", "vps"),
		field.Flag("is_active", &f.Active),
		field.Ref("plan", &f.Plan),
		field.Int("quota", &f.Quota),
		field.UUID("order", &f.Order),
		field.Time("created_at__gte", &f.Since),
		field.Refs("id__in", &f.IDs),
		field.Text("name", &f.Name),
		field.NullText("note", &f.Note),
		field.Texts("slug__in", &f.Slugs, nil),
		field.NullRef("parent", &f.Parent),
		field.NullTime("until", &f.Until),
	}
}

func TestFiltersSpeakOfChoices(t *testing.T) {
	tests := map[string]struct{ sent, want string }{
		"type":            {"ZZ", "Select a valid choice. ZZ is not one of the available choices."},
		"plan":            {"x", "Select a valid choice. That choice is not one of the available choices."},
		"quota":           {"x", "Enter a number."},
		"order":           {"x", "Enter a valid UUID."},
		"created_at__gte": {"x", "Enter a valid date/time."},
		"id__in":          {"1,x", "Enter a number."},
		"parent":          {"x", "Select a valid choice. That choice is not one of the available choices."},
		"until":           {"x", "Enter a valid date/time."},
		"name":            {"a\x00", "Null characters are not allowed."},
	}
	for name, test := range tests {
		_, err := (&filters{}).Fields().Filter(map[string][]string{name: {test.sent}})
		if got := string(field.ErrorsOf(err).AppendJSON(nil)); got != `{"`+name+`":["`+test.want+`"]}` {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestATextThatNoRecordCanHaveFiltersAllOfThem(t *testing.T) {
	for _, sent := range []string{strings.Repeat("x", 300), "a\nb", "a\u2028b", "\uFFFD", "<b>"} {
		var f filters
		given, err := f.Fields().Filter(map[string][]string{"name": {sent}, "note": {sent}, "slug__in": {sent + ", b"}})
		if err != nil || len(given) != 3 || f.Name != sent || f.Note == nil || *f.Note != sent ||
			!slices.Equal(f.Slugs, []string{sent, "b"}) {
			t.Errorf("%q filters by %v %+v (%v)", sent, given, f, err)
		}
	}
}

func TestOnlyWhatIsGivenFilters(t *testing.T) {
	var f filters
	if _, err := f.Fields().Filter(map[string][]string{"created_at__gte": {"2024-01-01"}}); err == nil {
		t.Error("a day is no moment")
	}
	given, err := f.Fields().Filter(
		map[string][]string{
			"type": {"x", "vps"}, "is_active": {"perhaps"}, "plan": {""}, "id__in": {"1, 2"}, "unknown": {"x"},
			"quota": {"7"},
		},
	)
	if err != nil || len(given) != 3 || !given.Has("type") || !given.Has("id__in") || !given.Has("quota") {
		t.Errorf("%v %v", given, err)
	}
	if f.Type != "vps" || len(f.IDs) != 2 || f.Quota != 7 {
		t.Errorf("%+v", f)
	}
}
