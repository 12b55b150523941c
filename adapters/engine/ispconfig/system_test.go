//go:build system

package ispconfig_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"hostpanel/adapters/engine/enginetest"
	"hostpanel/domain/dns"
	"hostpanel/domain/hosting"
)

func TestISPConfigStandsTheCampaigns(t *testing.T) { enginetest.RunCampaigns(t, onDouble) }

func TestTextsAreServedAsTheyAreAskedFor(t *testing.T) {
	w := inhabited(t)
	texts := hostileTexts()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for random := rand.New(rand.NewPCG(seed, 1)); len(texts) < 150; {
		texts = append(texts, randomText(random))
	}
	for i, text := range texts {
		if _, ok := dns.Text(text); !ok && !strings.HasPrefix(text, `"`) {
			continue // nothing that the panel takes
		}
		o := w.object("dns_record")
		o.Name = hosting.RecordName(
			hosting.RecordKey{Origin: "acme.test.", Name: fmt.Sprintf("n%d.acme.test.", i), Type: dns.TXT, Data: text},
		)
		o.Values = values("record_type", "TXT", "name", fmt.Sprintf("n%d", i), "data", text, "ttl", 3600, "is_active", true)
		o.ID = w.create(o)
		found := w.find("dns_record", o.Name)
		if found.ID != o.ID || string(found.Values["data"]) != string(values("data", text)["data"]) {
			t.Errorf("%q is read back as %s", text, found.Values["data"])
		}
		writes := w.fake.Calls("dns_txt_update")
		if w.change(o); w.fake.Calls("dns_txt_update") != writes {
			t.Errorf("%q is written again", text)
		}
		if served := w.served("acme.test.", fmt.Sprintf("n%d.acme.test.", i)); served != text {
			t.Errorf("%q is served as %q", text, served)
		}
	}
}
