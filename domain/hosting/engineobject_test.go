package hosting_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"hostpanel/domain/hosting"
)

// Secrets that are handed over print and store as nothing.
func TestSecretsAreNotTold(t *testing.T) {
	o := hosting.EngineObject{Kind: "mailbox", Secrets: hosting.Secrets{"password": "hunter2"}}
	stored, err := json.Marshal(struct {
		O hosting.EngineObject
		S hosting.Secrets
	}{o, o.Secrets})
	told := fmt.Sprintf("%v %+v %#v %s %s", o, o, o, o.Secrets, stored)
	if err != nil || strings.Contains(told, "hunter2") {
		t.Error(told, err)
	}
}

func ExampleRecordName() {
	name := hosting.RecordName(hosting.RecordKey{Origin: "example.com.", Name: "example.com.", Type: "TXT", Data: "v=spf1 mx -all"})
	fmt.Println(name)
	fmt.Println(hosting.ParseRecordName(name))
	_, ok := hosting.ParseRecordName("www.example.com.")
	fmt.Println(ok)
	// Output:
	// example.com. example.com. TXT 0 v=spf1 mx -all
	// {example.com. example.com. TXT 0 v=spf1 mx -all} true
	// false
}

// A missing measurement adds nothing to the total.
func TestStorageAddsWhatIsKnown(t *testing.T) {
	three, four := int64(3), int64(4)
	u := hosting.Usage{Storage: []hosting.Measure{{Bytes: &three}, {}, {Bytes: &four}}}
	if u.StorageBytes() != 7 {
		t.Error(u.StorageBytes())
	}
}
