//go:build system

package program_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hostpanel/cmd/hostpanel/console"
	"hostpanel/tests/processtest"
)

// What customers have put into a zone comes out as a file that a name server
// reads.
func TestAZoneIsWrittenAsAFile(t *testing.T) {
	t.Parallel()
	h := processtest.NewHome(t)
	h.Env = append(h.Env, "HOSTPANEL_NAMESERVERS=ns1.panel.test,ns2.panel.test")
	r := h.Start()
	admin := []string{
		"Authorization", "Bearer " + r.SignIn(h.Demo().TenantAdmin).Field(t, "access"), "Content-Type",
		processtest.AsJSON,
	}
	post := func(collection, body string) int64 {
		t.Helper()
		var made struct {
			ID int64 `json:"id"`
		}
		if err := json.Unmarshal([]byte(r.Ask(201, "POST", "/hosting/api/rest/"+collection+"/", body, admin...).Body),
			&made); err != nil {
			t.Fatal(err)
		}
		return made.ID
	}
	zone := post("dns-zones", `{"origin":"acme.test","admin_email":"a.b@acme.test"}`)
	for _, record := range []string{
		`"record_type":"A","name":"@","data":"192.0.2.1"`,
		`"record_type":"AAAA","name":"www","data":"2001:DB8:0::1","ttl":60`,
		`"record_type":"CNAME","name":"shop","data":"www"`,
		`"record_type":"MX","name":"@","data":"mx.other.test"`,
		`"record_type":"TXT","name":"@","data":"v=spf1 a \"mx\" -all; ` + strings.Repeat("x", 300) + `"`,
		`"record_type":"SRV","name":"_sip._tcp","data":"5 5060 sip.other.test","priority":7`,
		`"record_type":"CAA","name":"@","data":"0 issue \"ca.test\""`,
		`"record_type":"A","name":"off","data":"192.0.2.9","is_active":false`,
	} {
		post("dns-records", fmt.Sprintf(`{"zone":%d,%s}`, zone, record))
	}
	file := h.Must("zone", fmt.Sprint(zone))
	for _, line := range []string{
		"acme.test.\t3600\tIN\tSOA\tns1.panel.test. a\\.b.acme.test. ", "\tNS\tns2.panel.test.\n",
		"acme.test.\t3600\tIN\tMX\t10 mx.other.test.\n",
		"www.acme.test.\t60\tIN\tAAAA\t2001:db8::1\n", "_sip._tcp.acme.test.\t3600\tIN\tSRV\t7 5 5060 sip.other.test.\n",
	} {
		if !strings.Contains(file, line) {
			t.Errorf("no %q in\n%s", line, file)
		}
	}
	if strings.Contains(file, "off.acme.test") {
		t.Error("it publishes what is switched off")
	}
	asksBIND(t, "acme.test", file)
	if _, complaint, code := h.Command("zone", "999"); code != console.Failed ||
		!strings.Contains(complaint, "there is no zone 999") {
		t.Errorf("%d: %s", code, complaint)
	}
	r.Stop()
}

// asksBIND holds the file against a name server's own checks, where it is
// installed.
func asksBIND(t *testing.T, origin, file string) {
	t.Helper()
	tool, err := exec.LookPath("named-checkzone")
	if err != nil {
		t.Log("named-checkzone is not installed: nothing is asked of BIND")
		return
	}
	path := filepath.Join(t.TempDir(), origin)
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	if answer, err := exec.CommandContext(t.Context(), tool, "-k", "fail", "-n", "fail", origin,
		path).CombinedOutput(); err != nil {
		t.Errorf("%v: %s\n%s", err, answer, file)
	}
}
