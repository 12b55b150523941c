package hosting_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"hostpanel/domain/compute"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// A row of the table speaks of fields that its spec has.
func TestEveryKindSpeaksOfItsOwnFields(t *testing.T) {
	for _, k := range hosting.Kinds {
		set := k.New().Fields()
		for _, name := range slices.Concat(k.Unique, k.Personal, k.Filters, k.Search, k.Ordering, slices.Concat(k.Sets...), fieldsOf(k)) {
			name, _, _ = strings.Cut(name, "__")
			if !set.Has(name) && name != "tenant" {
				t.Errorf("%s has no field %s", k.Name, name)
			}
		}
		if (k.Collection == "") != (k.Verbs == 0) || k.Class == "" || k.Label == "" {
			t.Errorf("%s is not told whole: %+v", k.Name, k)
		}
		if found, ok := hosting.KindNamed(k.Name); !ok || found.Name != k.Name {
			t.Errorf("%s is not found", k.Name)
		}
	}
}

// fieldsOf are the fields that a row of the table speaks of apart.
func fieldsOf(k hosting.Kind) (names []string) {
	for _, r := range k.Refs {
		names = append(names, r.Field)
	}
	for _, n := range k.Names {
		names = append(names, n.Of)
	}
	for _, name := range []string{k.Address, k.Generated} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// What a row says of other kinds is so there.
func TestEveryKindSpeaksTrulyOfOthers(t *testing.T) {
	for _, k := range hosting.Kinds {
		for _, r := range k.Refs {
			if _, known := hosting.KindNamed(r.Kind); !known {
				t.Errorf("%s refers to a %s", k.Name, r.Kind)
			}
		}
		for _, n := range k.Names {
			i := slices.IndexFunc(k.Refs, func(r hosting.Reference) bool { return r.Field == n.Of })
			if other, _ := hosting.KindNamed(k.Refs[i].Kind); !other.New().Fields().Has(n.Shows) {
				t.Errorf("%s shows the %s of a %s", k.Name, n.Shows, other.Name)
			}
		}
		for _, c := range k.Counts {
			other, _ := hosting.KindNamed(c.Kind)
			if i := slices.IndexFunc(other.Refs, func(r hosting.Reference) bool { return r.Field == c.By && r.Kind == k.Name }); i < 0 {
				t.Errorf("%s counts %s", k.Name, c.Kind)
			}
		}
	}
}

// An answer shows everything that can be sent, but what is secret.
func TestEveryAnswerShowsWhatWasSent(t *testing.T) {
	for _, k := range hosting.Kinds {
		if k.Shown == nil {
			continue
		}
		for _, f := range k.New().Fields() {
			shown := shows(k, f.Name)
			if !f.IsReadOnly() && !f.IsSecret() && !shown || f.IsSecret() && shown && f.Name != "db_password" {
				t.Errorf("%s shows %s: %t", k.Name, f.Name, shown)
			}
		}
		if k.EngineID != "" && (!slices.Contains(k.Shown, k.EngineID) || !slices.Contains(k.Shown, "sync_error")) {
			t.Errorf("%s does not show how far the engine is", k.Name)
		}
	}
}

// shows tells whether answers have a field, by its name or with others.
func shows(k hosting.Kind, name string) bool {
	return slices.ContainsFunc(k.Shown, func(shown string) bool {
		prefix, group := strings.CutSuffix(shown, "*")
		return shown == name || group && strings.HasPrefix(name, prefix)
	})
}

// A field that is written in one call must be the same field in the next.
func TestEveryKindDeclaresItsFieldsOnce(t *testing.T) {
	for _, k := range hosting.Kinds {
		seen := map[string]bool{}
		for _, f := range k.New().Fields() {
			if seen[f.Name] {
				t.Errorf("%s declares %s twice", k.Name, f.Name)
			}
			seen[f.Name] = true
		}
	}
}

// Every kind's quota is a limit that tenants have, unless the feature alone
// decides; a package without anything keeps them to none.
func TestEveryQuotaIsALimit(t *testing.T) {
	nothing := (&hosting.Package{}).Allows()
	unset := hosting.NoLimits()
	for _, k := range hosting.Kinds {
		if k.Quota != "" && (nothing.Of(k.Quota) != 0 || unset.Of(k.Quota) != k.Unset()) {
			t.Errorf("%s counts against %s: %d, %d", k.Name, k.Quota, nothing.Of(k.Quota), unset.Of(k.Quota))
		}
	}
}

func ExampleSite() {
	site := new(hosting.Site)
	_, err := site.Fields().DecodeJSON([]byte(`{"domain": "Example.COM."}`), field.Create)
	shown, _ := json.Marshal(site.Fields())
	fmt.Println(string(shown), err)
	// Output: {"domain":"example.com","ip_address":"*","is_active":true,"ssl_enabled":false,"document_root":""} <nil>
}

func ExamplePackageFrom() {
	limits := hosting.PackageFrom(map[string]int64{
		"quota_sites": 5, "quota_databases": 0, "quota_storage_gb": 10,
		"quota_mailboxes": -1, "quota_domains": 3, "quota_ftp_users": 2,
	})
	shown, _ := json.MarshalIndent(limits.Fields(), "", "  ")
	fmt.Println(string(shown))
	// Output:
	// {
	//   "max_sites": 5,
	//   "max_databases": 0,
	//   "max_storage_mb": 10240,
	//   "max_traffic_mb": -1,
	//   "max_mail_domains": 3,
	//   "max_mailboxes": -1,
	//   "max_mail_aliases": -1,
	//   "max_ftp_accounts": 2,
	//   "max_shell_users": -1,
	//   "max_dns_zones": 3,
	//   "max_cron_jobs": 0
	// }
}

func TestWhatAPlanDoesNotSpeakOfHasNoLimit(t *testing.T) {
	if got := hosting.PackageFrom(nil); !reflect.DeepEqual(got, hosting.NoLimits()) {
		t.Errorf("%+v", got)
	}
	if got := hosting.PackageFrom(map[string]int64{"quota_storage_gb": -1}).Of(hosting.StorageMB); got != hosting.Unlimited {
		t.Errorf("%d MB", got)
	}
}

// E-1: names at the engine follow from our ids.
func TestNamesFollowFromIDs(t *testing.T) {
	if hosting.CustomerNumber(17) != "t17" || hosting.MachineName(77) != "vm77" || site.Stream().String() != "site-42" {
		t.Error(hosting.CustomerNumber(17), hosting.MachineName(77), site.Stream())
	}
}

func ExampleMachine() {
	machine := hosting.NewMachine(77, "6f1c")
	machine.Cores, machine.MemoryMB, machine.DiskGB, machine.OS = 2, 2048, 40, "debian-12"
	wanted := machine.Wanted("a1b2c3d4e5", 3, true, "")
	fmt.Println(wanted.Name, wanted.ID, compute.MAC(wanted.ID), wanted.Template, wanted.Hostname, wanted.On)
	// Output:
	// vm77 873f6661-4c92-513b-afb0-2ca86611a603 02:a8:66:11:a6:03 debian-12 vm77 true
}
