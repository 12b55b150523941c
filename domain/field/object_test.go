package field_test

import (
	"fmt"
	"testing"

	"hostpanel/domain/field"
)

// A parcel shows another number of fields each time.
type parcel struct {
	ID    int64
	Label string
}

func (p *parcel) Fields() field.Set { return p.Describe(nil) }

func (p *parcel) Describe(storage field.Set) field.Set {
	set := append(storage, field.Int("id", &p.ID), field.Text("label", &p.Label).When(p.ID%3 != 0), field.Int("again", &p.ID))
	if p.ID%2 == 0 {
		set = append(set, field.Text("even", &p.Label))
	}
	return set
}

// Records that share the storage of their fields are shown as they are one by one, and
// a list of many needs little more memory than one of few.
func TestRecordsOfAListShareTheStorageOfTheirFields(t *testing.T) {
	var all []parcel
	want := ""
	for id := range int64(50) {
		all = append(all, parcel{id, fmt.Sprint("parcel ", id)})
		want += "," + string(all[id].Fields().AppendJSON(nil))
	}
	if got := string(field.AppendList(nil, all)); got != "["+want[1:]+"]" {
		t.Errorf("got %s\nwant [%s]", got, want[1:])
	}
	b := make([]byte, 0, 10_000)
	few := testing.AllocsPerRun(10, func() { field.AppendList(b, all[:5]) })
	if many := testing.AllocsPerRun(10, func() { field.AppendList(b, all) }); many > few {
		t.Errorf("5 records take %v pieces of memory, 50 take %v", few, many)
	}
}
