package storefront_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hostpanel/domain"
	"hostpanel/domain/domaintest"
	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
)

func ExampleComposeKey() {
	key := storefront.ComposeKey(storefront.Test, "ab12CD34", "0123456789ABCDEFGHIJKLMNOPQRSTUV")
	parsed, ok := storefront.ParseKey(key)
	fmt.Println(key, parsed.Mode, parsed.ID, ok)
	// Output: sfk_test_ab12CD34_0123456789ABCDEFGHIJKLMNOPQRSTUV_0dNtEz test ab12CD34 true
}

func TestAMistypedKeyIsRefusedWithoutALook(t *testing.T) {
	letters := rapid.StringMatching(`[0-9A-Za-z]`)
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]storefront.Mode{storefront.Live, storefront.Test}).Draw(t, "mode")
		id := rapid.StringMatching(`[0-9A-Za-z]{8}`).Draw(t, "id")
		secret := rapid.StringMatching(`[0-9A-Za-z]{32}`).Draw(t, "secret")
		key := storefront.ComposeKey(mode, id, secret)
		if got, ok := storefront.ParseKey(key); !ok || got != (storefront.KeyText{Mode: mode, ID: id, Secret: secret}) {
			t.Fatalf("%s reads as %+v (%v)", key, got, ok)
		}
		at := rapid.IntRange(9, len(key)-1).Draw(t, "at")
		wrong := key[:at] + letters.Draw(t, "letter") + key[at+1:]
		if _, ok := storefront.ParseKey(wrong); ok && wrong != key {
			t.Fatalf("%s passes for %s", wrong, key)
		}
	})
	good := storefront.ComposeKey(storefront.Live, "ab12CD34", strings.Repeat("x", 32))
	for _, wrong := range []string{
		"", good + " ", good + "\n", " " + good, good[:len(good)-1], strings.ToUpper(good), strings.Replace(good, "live", "test", 1),
		strings.Replace(good, "sfk", "skf", 1), strings.Replace(good, "live", "prod", 1),
	} {
		if got, ok := storefront.ParseKey(wrong); ok {
			t.Errorf("%q reads as %+v", wrong, got)
		}
	}
}

func TestRandomLettersAreEquallyLikely(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	letters := storefront.Letters(all, 1000)
	for _, r := range letters {
		if n := strings.Count(letters, string(r)); n != 4 {
			t.Fatalf("%c comes %d times", r, n)
		}
	}
	if len(letters) != 248 || len(storefront.Letters(all, 8)) != 8 {
		t.Errorf("%d letters", len(letters))
	}
}

var (
	hash     = storefront.HashKey("sfk_test_ab12CD34_…")
	issueKey = storefront.IssueKey{
		ID: "ab12CD34", Mode: storefront.Test, Hash: hash,
		Spec:      values(`{"name":"Tienda","allowed_domains":[],"rate_limit_per_minute":60,"expires_at":null}`),
		CreatedBy: 1, Owner: 2, At: noon,
	}
	keyIssued = storefront.APIKeyIssued{
		ID: "ab12CD34", Mode: storefront.Test, Hash: hash[:], Spec: issueKey.Spec, CreatedBy: 1, Owner: 2, At: noon,
	}
	keyRevoked = storefront.APIKeyRevoked{At: noon}
)

func givenKey(t *testing.T, history ...storefront.KeyEvent) *domaintest.Story[storefront.Key, storefront.KeyCommand, storefront.KeyEvent] {
	return domaintest.Given(t, storefront.Keys, history)
}

func TestAKeyIsIssuedChangedAndRevoked(t *testing.T) {
	givenKey(t).When(issueKey).Then(keyIssued)
	givenKey(t, keyIssued).When(issueKey).ThenRefused(domain.Conflict, "The key exists.")
	givenKey(t, keyIssued).When(
		storefront.ChangeKey{ID: "ab12CD34", Spec: values(`{"rate_limit_per_minute":6000,"name":"Tienda"}`), At: noon},
	).
		Then(storefront.APIKeyChanged{Spec: values(`{"rate_limit_per_minute":6000}`), At: noon})
	givenKey(t, keyIssued).When(storefront.ChangeKey{ID: "ab12CD34"}).Then()
	givenKey(t, keyIssued).When(storefront.RevokeKey{ID: "ab12CD34", At: noon}).Then(keyRevoked)
	givenKey(t, keyIssued, keyRevoked).When(storefront.RevokeKey{ID: "ab12CD34", At: noon.Add(time.Hour)}).Then()
	for _, c := range []storefront.KeyCommand{storefront.ChangeKey{ID: "ab12CD34"}, storefront.RevokeKey{ID: "ab12CD34"}} {
		givenKey(t).When(c).ThenRefused(domain.NotFound, "No APIKey matches the given query.")
	}
}

func TestAKeyNeedsAPublicIDAndAMode(t *testing.T) {
	for _, c := range []storefront.IssueKey{
		{ID: "short", Mode: storefront.Live}, {ID: "ab12CD34"}, {ID: "ab12CD3-", Mode: storefront.Test},
	} {
		if facts, err := storefront.Keys.Decide(storefront.Key{}, c); err == nil {
			t.Errorf("%+v makes %v", c, facts)
		}
	}
}

// The log never holds a key.
func TestAKeyIsKeptAsItsHashOnly(t *testing.T) {
	key := storefront.ComposeKey(storefront.Live, "ab12CD34", "0123456789ABCDEFGHIJKLMNOPQRSTUV")
	c := issueKey
	c.Hash = storefront.HashKey(key)
	facts, err := storefront.Keys.Decide(storefront.Key{}, c)
	if err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(facts)
	if err != nil || bytes.Contains(written, []byte("0123456789ABCDEF")) || c.Hash == hash {
		t.Errorf("%s (%v)", written, err)
	}
}

func ExampleAPIKey() {
	var k storefront.APIKey
	_, err := k.Fields().DecodeJSON(
		[]byte(`{"name":"Tienda","allowed_domains":["Example.com","*.shop.example","https://a.example:8443","localhost"]}`),
		field.Create,
	)
	shown, _ := json.MarshalIndent(k.Fields(), "", "  ")
	fmt.Println(string(shown), err)
	_, err = k.Fields().DecodeJSON([]byte(`{"name":"Tienda","allowed_domains":["*"],"rate_limit_per_minute":0}`), field.Create)
	refusal, _ := json.MarshalIndent(err, "", "  ")
	fmt.Println(string(refusal))
	// Output:
	// {
	//   "name": "Tienda",
	//   "allowed_domains": [
	//     "example.com",
	//     "*.shop.example",
	//     "https://a.example:8443",
	//     "localhost"
	//   ],
	//   "rate_limit_per_minute": 60,
	//   "expires_at": null
	// } <nil>
	// {
	//   "allowed_domains": {
	//     "0": [
	//       "Enter a valid domain or origin."
	//     ]
	//   },
	//   "rate_limit_per_minute": [
	//     "Ensure this value is greater than or equal to 1."
	//   ]
	// }
}

func TestEventsAreReadForever(t *testing.T) {
	_, plan := offered(t, basic)
	former, _ := plan[0].(storefront.PlanOffered) // before there were texts by language, and nodes
	maps.DeleteFunc(former.Spec, func(name string, _ json.RawMessage) bool {
		return strings.HasSuffix(name, "_en") || strings.HasSuffix(name, "_es") || name == "vps_nodes" || name == "vps_snapshots"
	})
	domaintest.Golden(t, storefront.EventTypes,
		plan[0], storefront.PlanChanged{Spec: values(`{"price":"3.49"}`), At: noon}, storefront.PlanWithdrawn{At: noon},
		widgetMade, storefront.WidgetChanged{Spec: values(`{"theme":"dark"}`), At: noon}, widgetGone,
		keyIssued, storefront.APIKeyChanged{Spec: values(`{"rate_limit_per_minute":6000}`), At: noon}, keyRevoked,
	)
}

func TestStreamsAreNamedByNumber(t *testing.T) {
	for want, c := range map[string]domain.Command{
		"plan-7": storefront.OfferPlan{Plan: 7}, "widget-3": makeWidget, "api_key-ab12CD34": issueKey,
	} {
		if got := c.Stream().String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
