package ispconfig_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// named is a world in which each site has an address: 192.0.2.7 unless it names another.
// 192.0.2.11 is the first client's alone.
func named(t *testing.T) *world {
	t.Helper()
	w := empty(t)
	w.config.Named, w.fake.Reserved["192.0.2.11"] = true, 1
	w.engine = w.open(w.config)
	return w
}

// siteOf is a site of a client, as it is asked for.
func siteOf(client, id int64, domain, address string) hosting.EngineObject {
	return hosting.EngineObject{
		Kind: "site", ID: id, Owner: client, Name: domain, Values: values("domain", domain, "ip_address", address, "is_active", true),
	}
}

// asked checks the form of a site and makes or changes it, as the panel does.
func (w *world) asked(o hosting.EngineObject) (id int64, wrong field.Errors) {
	w.Helper()
	wrong, err := w.engine.CheckForm(w.Context(), o)
	if err != nil {
		w.Fatal(err)
	}
	if len(wrong) > 0 {
		return o.ID, wrong
	}
	if o.ID == 0 {
		return w.create(o), nil
	}
	w.change(o)
	return o.ID, nil
}

// Whatever tenants choose as addresses of their sites, a request for a name is answered
// by the site of that name or by none: where sites share all addresses at each address,
// and where each has one at its own.
func TestARequestIsAnsweredByTheSiteOfItsNameOrByNone(t *testing.T) {
	addresses := []string{"*", "192.0.2.7", "192.0.2.10", "192.0.2.11", "2001:db8::7", "198.51.100.9"}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 2))
	for _, open := range []func(*testing.T) *world{empty, named} {
		w := open(t)
		var clients []int64
		for i := range 3 {
			clients = append(clients, w.create(tenant(fmt.Sprint("t", i+1))))
		}
		ids, made := map[string]int64{}, 0
		for asked := 0; asked < 60 || made < 12; asked++ {
			n := chance.IntN(9)
			domain := fmt.Sprintf("s%d.example", n)
			o := siteOf(clients[n%3], ids[domain], domain, addresses[chance.IntN(len(addresses))])
			o.ByOperator = chance.IntN(4) == 0
			if ids[domain], _ = w.asked(o); ids[domain] == 0 {
				delete(ids, domain)
			} else {
				made++
			}
			w.answered(ids)
		}
	}
}

// answered asks for each site at the addresses that its name leads to.
func (w *world) answered(ids map[string]int64) {
	w.Helper()
	for domain := range ids {
		row := w.row("web_domain", "domain", domain)
		leads := []string{row["ip_address"], row["ipv6_address"]}
		if row["ip_address"] == "*" {
			leads = []string{"192.0.2.7", "192.0.2.10", "192.0.2.11", "2001:db8::7"}
		}
		for _, address := range leads {
			if address == "" {
				continue
			}
			if served := w.fake.Served(address, domain); served != "" && served != domain {
				w.Fatalf("%s at %s is answered by %s", domain, address, served)
			}
		}
	}
}

// The double shows the damage: one site with an address takes the requests for all others.
func TestTheDoubleLetsASiteWithAnAddressTakeAllRequests(t *testing.T) {
	w := inhabited(t)
	for _, address := range []string{"192.0.2.7", "2001:db8::7"} {
		thief := siteOf(w.client, 0, "thief.example", address)
		thief.ID = w.create(thief)
		if served := w.fake.Served(address, "acme.test"); served != "thief.example" {
			t.Errorf("%q", served)
		}
		if served := w.fake.Served("192.0.2.10", "acme.test"); served != "acme.test" {
			t.Errorf("%q", served)
		}
		if err := w.engine.Remove(t.Context(), thief); err != nil {
			t.Fatal(err)
		}
	}
}

// A mix is refused at the form, and says which field.
func TestAddressesThatWouldMixAreRefusedByField(t *testing.T) {
	for _, c := range []struct {
		open     func(*testing.T) *world
		address  string
		client   int64
		operator bool
		refused  string
	}{
		{empty, "*", 1, false, ""},
		{empty, "192.0.2.7", 1, true, "share its addresses"},
		{empty, "2001:db8::7", 1, true, "share its addresses"},
		{named, "*", 1, false, ""},
		{named, "192.0.2.7", 1, true, "share its addresses"}, // * stands for it
		{named, "192.0.2.10", 1, true, ""},
		{named, "192.0.2.10", 1, false, "Only operators"},
		{named, "2001:db8::7", 1, false, "Only operators"},
		{named, "192.0.2.11", 1, false, ""},
		{named, "192.0.2.11", 2, true, "does not have this address"},
		{named, "192.0.2.11", 0, true, "does not have this address"},
		{named, "198.51.100.9", 1, true, "does not have this address"},
	} {
		w := c.open(t)
		o := siteOf(c.client, 0, "acme.test", c.address)
		o.ByOperator = c.operator
		wrong, err := w.engine.CheckForm(t.Context(), o)
		said := ""
		if len(wrong) > 0 {
			said = wrong[0].Field + ": " + strings.Join(wrong[0].Messages, " ")
		}
		if err != nil || (c.refused == "") != (said == "") || c.refused != "" &&
			(!strings.HasPrefix(said, "ip_address: ") || !strings.Contains(said, c.refused)) {
			t.Errorf("%s for %d: %q, %v", c.address, c.client, said, err)
		}
	}
}

// An address that is reserved for another client never reaches the engine, however it was
// asked for.
func TestAnAddressOfAnotherClientIsNotGivenAway(t *testing.T) {
	w := named(t)
	first, second := w.create(tenant("t1")), w.create(tenant("t2"))
	if _, err := w.engine.Create(t.Context(), siteOf(second, 0, "other.example", "192.0.2.11")); err == nil {
		t.Error("it is given away")
	}
	w.create(siteOf(first, 0, "own.example", "192.0.2.11"))
}

// Where each site has an address, the panel's * is the first shared one, there and back.
// A site that has any address there differs from its record.
func TestAnyAddressStandsForTheFirstSharedOne(t *testing.T) {
	w := named(t)
	w.client = w.create(tenant("t17"))
	o := siteOf(w.client, 0, "acme.test", "*")
	o.ID = w.create(o)
	if row := w.rowOf("site"); row["ip_address"] != "192.0.2.7" {
		t.Errorf("it has %s", row["ip_address"])
	}
	writes := w.fake.Calls("sites_web_domain_update")
	w.change(o)
	if w.fake.Calls("sites_web_domain_update") != writes {
		t.Error("it is written again")
	}
	shown := func() string { return string(w.find("site", "acme.test").Values["ip_address"]) }
	if shown() != `"*"` {
		t.Errorf("it is shown as %s", shown())
	}
	w.fake.Tell("sites_web_domain_update", fmt.Sprintf(`{"client_id": 0, "primary_id": %d, "params": {"ip_address": "*"}}`, o.ID))
	if shown() != `"0.0.0.0"` {
		t.Errorf("by hand it has any, shown as %s", shown())
	}
	w.change(o)
	if row := w.rowOf("site"); row["ip_address"] != "192.0.2.7" || shown() != `"*"` {
		t.Errorf("it has %s, shown as %s", row["ip_address"], shown())
	}
	six := with(o, "ip_address", "2001:db8::7")
	w.change(six)
	if row := w.rowOf("site"); row["ip_address"] != "192.0.2.7" || row["ipv6_address"] != "2001:db8::7" || shown() != `"2001:db8::7"` {
		t.Errorf("%s %s, shown as %s", row["ip_address"], row["ipv6_address"], shown())
	}
}

var _ hosting.FormChecker = (*ispconfig.Engine)(nil)
