//go:build system

package program_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/tests/processtest"
)

// wholeLife is one resource of each kind that the API can make: what is sent to
// make it, and to change it. "{kind}" is the number of that kind's resource.
var wholeLife = map[string]struct{ make, change string }{
	"package":     {`{"name":"All","max_cron_jobs":5}`, `{"max_sites":7}`},
	"tenant":      {`{"name":"Life","email":"life@example.com","package":{package}}`, `{"city":"Cádiz"}`},
	"site":        {`{"tenant":{tenant},"domain":"life.example"}`, `{"ip_address":"192.0.2.10"}`},
	"database":    {`{"tenant":{tenant},"name":"shop","site":{site}}`, ""},
	"dns_zone":    {`{"tenant":{tenant},"origin":"life.example"}`, `{"ttl":600}`},
	"dns_record":  {`{"zone":{dns_zone},"record_type":"A","name":"www","data":"192.0.2.1"}`, `{"data":"192.0.2.2"}`},
	"mail_domain": {`{"tenant":{tenant},"domain":"life.example"}`, `{"is_active":true}`},
	"mailbox": {
		`{"mail_domain":{mail_domain},"local_part":"info","password":"correct horse 7"}`,
		`{"quota_mb":50}`,
	},
	"mail_alias": {
		`{"mail_domain":{mail_domain},"source":"sales","destination":"info@life.example"}`,
		`{"destination":"ana@elsewhere.example"}`,
	},
	"ftp_account": {`{"site":{site},"username":"life","password":"correct horse 7"}`, `{"directory":"/web/shop"}`},
	"shell_user":  {`{"site":{site},"username":"lifesh","password":"correct horse 7"}`, `{"shell":"/bin/sh"}`},
	"cron_job": {
		`{"site":{site},"schedule":"@daily","command":"https://life.example/cron?at=%20"}`,
		`{"schedule":"*/5 * * * *"}`,
	},
	"ssl_certificate": {`{"site":{site}}`, `{"auto_renew":false}`},
	"node":            {`{"name":"alpha","cores":8,"memory_mb":16384,"disk_gb":500}`, `{"is_drained":true}`},
	"address_pool":    {`{"name":"blue","network":"192.0.2.0/24","nodes":["alpha"]}`, `{"gateway":"192.0.2.1"}`},
	"whitelabel":      {`{"tenant":{tenant},"brand_name":"Life"}`, `{"brand_name":"Still life"}`},
}

// Every kind can be made, changed, switched off with its tenant and on again,
// and removed, through the API of the program as it is, on every engine. After
// each step the engine has what the panel says.
func TestEveryKindLivesThroughTheAPIOnEveryEngine(t *testing.T) {
	for name, start := range map[string]func(*testing.T) (processtest.Home, *processtest.Process){
		"sandbox": func(t *testing.T) (processtest.Home, *processtest.Process) {
			h := processtest.NewHome(t)
			return h, h.Start()
		},
		"ispconfig": func(t *testing.T) (processtest.Home, *processtest.Process) {
			h, _, fake := onISPConfig(t)
			ticking(t, fake)
			return h, h.Serving("--listen", "127.0.0.1:0")
		},
	} {
		t.Run(name, func(t *testing.T) {
			h, r := start(t)
			l := &livingKinds{Process: r, ids: map[string]string{}}
			l.headers = []string{
				"Authorization", "Bearer " + r.SignIn(h.Demo().Superuser).Field(t, "access"), "Content-Type",
				processtest.AsJSON,
			}
			l.areMade()
			l.areChanged()
			l.goOffAndOn()
			l.areRemoved()
			r.Stop()
		})
	}
}

// livingKinds are the resources of one run, by kind.
type livingKinds struct {
	*processtest.Process
	headers []string
	ids     map[string]string
}

// ofAPI are the kinds that the API can make, in an order in which each comes
// after what it belongs to.
func ofAPI() (all []hosting.Kind) {
	first := []string{"package", "tenant"}
	for _, kind := range hosting.Kinds {
		if kind.Verbs&hosting.Create != 0 && kind.Backend != hosting.Compute && !slices.Contains(first, kind.Name) { // orders make machines
			all = append(all, kind)
		}
	}
	for _, name := range []string{"tenant", "package"} {
		kind, _ := hosting.KindNamed(name)
		all = slices.Insert(all, 0, kind)
	}
	return all
}

func (l *livingKinds) path(kind hosting.Kind) string {
	return "/hosting/api/rest/" + kind.Collection + "/" + l.ids[kind.Name] + "/"
}

func (l *livingKinds) areMade() {
	l.T.Helper()
	for _, kind := range ofAPI() {
		life, told := wholeLife[kind.Name]
		if !told {
			l.T.Fatalf("no test makes a %s: give wholeLife a line", kind.Name)
		}
		var made struct{ ID json.Number }
		a := l.Ask(http.StatusCreated, "POST", "/hosting/api/rest/"+kind.Collection+"/", l.filled(life.make), l.headers...)
		if err := json.Unmarshal([]byte(a.Body), &made); err != nil {
			l.T.Fatal(err)
		}
		l.ids[kind.Name] = made.ID.String()
	}
	l.agrees("made")
}

func (l *livingKinds) filled(body string) string {
	for kind, id := range l.ids {
		body = strings.ReplaceAll(body, "{"+kind+"}", id)
	}
	return body
}

func (l *livingKinds) areChanged() {
	l.T.Helper()
	for _, kind := range ofAPI() {
		if kind.Verbs&hosting.Patch == 0 {
			continue
		}
		change := wholeLife[kind.Name].change
		var wanted, got map[string]any
		a := l.Ask(http.StatusOK, "PATCH", l.path(kind), change, l.headers...)
		if json.Unmarshal([]byte(change), &wanted) != nil || json.Unmarshal([]byte(a.Body), &got) != nil {
			l.T.Fatal(change, a.Body)
		}
		for name, value := range wanted {
			if fmt.Sprint(got[name]) != fmt.Sprint(value) {
				l.T.Errorf("%s: %s is %v, not %v", kind.Name, name, got[name], value)
			}
		}
	}
	l.agrees("changed")
}

// goOffAndOn suspends the tenant. What can be disabled is off, at the engine too.
func (l *livingKinds) goOffAndOn() {
	l.T.Helper()
	for _, status := range []string{"suspended", "active"} {
		tenant, _ := hosting.KindNamed("tenant")
		l.Ask(http.StatusOK, "PATCH", l.path(tenant), `{"status":"`+status+`"}`, l.headers...)
		for _, kind := range ofAPI() {
			if !kind.CanBeDisabled || !slices.Contains(kind.Shown, "is_active") {
				continue
			}
			if a := l.Ask(http.StatusOK, "GET", l.path(kind), "", l.headers...); !strings.Contains(a.Body,
				fmt.Sprintf(`"is_active":%t`, status == "active")) {
				l.T.Errorf("the %s of a tenant that is %s: %s", kind.Name, status, a.Body)
			}
		}
		l.agrees(status)
	}
}

// areRemoved removes parts before what they belong to. A site is in the bin and
// the tenant terminated after that; both are gone from the API.
func (l *livingKinds) areRemoved() {
	l.T.Helper()
	for _, kind := range slices.Backward(ofAPI()) {
		if kind.Shared {
			continue // the tenant keeps its package until it is gone
		}
		l.Ask(http.StatusNoContent, "DELETE", l.path(kind), "", l.headers...)
		l.Ask(http.StatusNotFound, "GET", l.path(kind), "", l.headers...)
		if !kind.Owner {
			l.agrees("without a " + kind.Name)
		}
	}
}

// agrees waits until the engine has all that the panel has.
func (l *livingKinds) agrees(when string) {
	l.T.Helper()
	var last string
	defer func() {
		if l.T.Failed() {
			l.T.Logf("%s: %s", when, last)
		}
	}()
	processtest.Eventually(l.T, "the engine has what the panel says, "+when, func() bool {
		for _, kind := range ofAPI() {
			if kind.EngineID == "" {
				continue
			}
			path := "/hosting/api/rest/" + kind.Collection + "/?page_size=100"
			if kind.Owner {
				path = l.path(kind)
			}
			last = l.Ask(http.StatusOK, "GET", path, "", l.headers...).Body
			if strings.Contains(last, `"sync_status":"error"`) {
				l.T.Fatal(when)
			}
			if strings.Contains(last, `"sync_status":"pending"`) {
				return false
			}
		}
		last = l.Ask(http.StatusOK, "POST", "/hosting/api/rest/tenants/"+l.ids["tenant"]+"/sync/?wait=true",
			`{"dry_run":true}`, l.headers...).Body
		return strings.Contains(last, `"created":0,"updated":0,"missing":0,"drift":[]`)
	})
}
