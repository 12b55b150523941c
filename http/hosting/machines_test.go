package hosting_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"hostpanel/adapters/compute/sandbox"
	"hostpanel/domain"
	"hostpanel/domain/compute"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/order"
	"hostpanel/paneltest"
	"hostpanel/projections"
)

// A rented machine is a virtual server that ana has bought for tenant 1.
type rented struct {
	*paneltest.Shop

	t    *testing.T
	id   int64
	name string
	at   *sandbox.Cluster
	of   compute.Machine // as far as its hypervisor is asked for it
}

func rent(t *testing.T, before ...domain.Command) rented {
	t.Helper()
	s := paneltest.Open(t).People(t).Stock(t).Start(t)
	s.Do(t, before...)
	s.PastPeople(t)
	a := paneltest.Read(t, s.OrdersInto(t, "ana", http.StatusCreated, `{"plan_id":2,"payment_method":"test","os_choice":"ubuntu-24"}`))
	s.Press(a, "action", "pay")
	s.Await(t, a, order.StatusActive)
	list := bodyOf(t, as(s, "ben", "GET", "vms/", ""), http.StatusOK)["results"].([]any)
	if len(list) != 1 {
		t.Fatalf("%d machines", len(list))
	}
	shown := list[0].(map[string]any)
	return rented{
		s, t, int64(shown["id"].(float64)), shown["name"].(string), sandbox.New(s.Owner),
		compute.Machine{ID: compute.ID("", a.ID), Name: shown["name"].(string), Service: a.ID},
	}
}

// act asks for an act, and waits until the machine is as is wanted by then.
func (r rented) act(name, body string) (answer map[string]any, seen compute.Seen) {
	r.t.Helper()
	answer = bodyOf(r.t, as(r.Shop, "ben", "POST", fmt.Sprintf("vms/%d/%s/", r.id, name), body), http.StatusOK)
	return answer, r.settled()
}

// settled is the machine once the panel has brought it to what is wanted.
func (r rented) settled() (seen compute.Seen) {
	r.t.Helper()
	paneltest.WaitFor(r.t, func() bool {
		var runs int
		err := r.Owner.QueryRow(r.t.Context(), `select count(*) from saga_run where about = $1 and status <> 'done'`,
			fmt.Sprintf("vm-%d", r.id)).Scan(&runs)
		if err != nil {
			r.t.Fatal(err)
		}
		return runs == 0 && bodyOf(r.t, as(r.Shop, "ben", "GET", fmt.Sprintf("vms/%d/", r.id), ""), 200)["sync_status"] == "synced"
	})
	seen, is, err := r.at.Find(r.t.Context(), r.of)
	if err != nil || !is {
		r.t.Fatalf("the hypervisor has no machine: %v", err)
	}
	return seen
}

func TestOwnersDoWithTheirMachineWhatTheActsSay(t *testing.T) {
	t.Parallel()
	r := rent(t)
	if seen := r.settled(); seen.State != compute.Running || seen.Boot != 1 || seen.Disk != 1 {
		t.Errorf("ordered: %+v", seen)
	}
	for _, step := range []struct {
		act, body string
		state     compute.State
		boot      int64
		disk      int64
		rescue    bool
	}{
		{"restart", "{}", compute.Running, 2, 1, false},
		{"shutdown", "{}", compute.Stopped, 2, 1, false},
		{"shutdown", "{}", compute.Stopped, 2, 1, false}, // again changes nothing
		{"start", "{}", compute.Running, 2, 1, false},
		{"reset", "{}", compute.Running, 3, 1, false},
		{"power_off", "{}", compute.Stopped, 3, 1, false},
		{"rescue", "{}", compute.Running, 4, 1, true},
		{"leave_rescue", "{}", compute.Running, 5, 1, false},
		{"reinstall", `{"os":"debian-12","hostname":"web.example.com","confirm":"` + r.name + `"}`, compute.Running, 5, 2, false},
	} {
		_, seen := r.act(step.act, step.body)
		if seen.State != step.state || seen.Boot != step.boot || seen.Disk != step.disk || seen.Rescue != step.rescue {
			t.Errorf("%s: %+v", step.act, seen)
		}
	}
	shown := bodyOf(t, as(r.Shop, "ben", "GET", fmt.Sprintf("vms/%d/", r.id), ""), http.StatusOK)
	if shown["os"] != "debian-12" || shown["hostname"] != "web.example.com" || len(shown["at_reinstall"].([]any)) != 0 {
		t.Errorf("after the installation: %v", shown)
	}
	patched := bodyOf(t, as(r.Shop, "ben", "PATCH", fmt.Sprintf("vms/%d/", r.id), `{"hostname":"www.example.com"}`), http.StatusOK)
	if fmt.Sprint(patched["at_reinstall"]) != "[hostname]" {
		t.Errorf("a host name counts with the next installation: %v", patched["at_reinstall"])
	}
}

func TestWhatIsWrongWithAnActSaysSoAndChangesNothing(t *testing.T) {
	t.Parallel()
	r := rent(t)
	before := r.settled()
	for _, c := range []struct {
		who, act, body string
		status         int
		says           string
	}{
		{"ben", "reinstall", `{}`, 400, `"confirm":["This field is required."]`},
		{"ben", "reinstall", `{"confirm":"vm"}`, 400, `"confirm":["Type the name of the machine."]`},
		{"ben", "reinstall", `{"os":"plan-9","confirm":"` + r.name + `"}`, 400, `"os":["\"plan-9\" is not a valid choice."]`},
		{"ben", "reinstall", `{"ssh_keys":["ssh-rsa x"],"confirm":"` + r.name + `"}`, 400, `"ssh_keys"`},
		{"ben", "reinstall", `{"root_password":"` + strings.Repeat("ñ9!x", 20) + `","confirm":"` + r.name + `"}`, 400, `than 72 bytes`},
		{"ben", "leave_rescue", `{}`, 409, `wrong_state`},
		{"eve", "restart", `{}`, 403, `no_active_tenant`},
		{"", "restart", `{}`, 401, ``},
	} {
		w := as(r.Shop, c.who, "POST", fmt.Sprintf("vms/%d/%s/", r.id, c.act), c.body)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s asks for %s %s: %d %s", c.who, c.act, c.body, w.Code, w.Body)
		}
	}
	if w := as(r.Shop, "root", "PATCH", "tenants/1/", `{"status":"suspended"}`); w.Code != http.StatusOK {
		t.Fatalf("suspend: %d %s", w.Code, w.Body)
	}
	if w := as(r.Shop, "ben", "POST", fmt.Sprintf("vms/%d/start/", r.id), "{}"); w.Code != http.StatusForbidden {
		t.Errorf("starts a suspended machine: %d %s", w.Code, w.Body)
	}
	if after := r.settled(); after.Boot != before.Boot || after.Disk != before.Disk {
		t.Errorf("%+v, not %+v", after, before)
	}
}

// A restart that is asked for while one is under way is the same one.
func TestAHundredRestartsAtOnceAreFew(t *testing.T) {
	t.Parallel()
	r := rent(t)
	r.settled()
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if w := as(r.Shop, "ben", "POST", fmt.Sprintf("vms/%d/restart/", r.id), "{}"); w.Code != http.StatusOK {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	all.Wait()
	if seen := r.settled(); seen.Boot < 2 || seen.Boot > 20 || seen.State != compute.Running {
		t.Errorf("%+v", seen)
	}
}

func TestAnOwnerInstallsASystemAnewInTheBrowser(t *testing.T) {
	t.Parallel()
	r := rent(t)
	page := hosting.RecordPage("vms", r.id)
	for language, texts := range map[string][]string{
		"en": {"Virtual servers", "Restart at once", "Install a system anew"}, "es": {"Servidores virtuales", "Reiniciar ya"},
	} {
		r.Do(t, paneltest.Speaks(paneltest.Ben, language))
		b := r.Visiting(t, paneltest.Ben)
		text := b.Get(page).Body.String()
		paneltest.Has(t, text, texts...)
		b.IsForEverybody(t, language, text)
	}
	b := r.Visiting(t, paneltest.Ben)
	b.Get(page)
	if w := b.Send("machine_reinstall", "confirm", "another"); w.Code != http.StatusBadRequest {
		t.Errorf("another name: %d", w.Code)
	}
	b.Get(page)
	path, sent := b.Fill("machine_reinstall")
	sent.Set("form", "panel_remove") // which its page does not offer
	if w := b.Do("POST", path, sent.Encode()); w.Code != http.StatusNotFound {
		t.Errorf("removed: %d", w.Code)
	}
	b.Get(page)
	if w := b.Send("machine_reinstall", "confirm", r.name, "os", "debian-12"); w.Code != http.StatusSeeOther {
		t.Errorf("installs: %d %s", w.Code, w.Body)
	}
	if seen := r.settled(); seen.Disk != 2 {
		t.Errorf("%+v", seen)
	}
}

// What a system is made of stands at the node, also when its owner installs another one.
func TestAReinstallationTakesTheTemplateOfTheNode(t *testing.T) {
	t.Parallel()
	alpha := hosting.Ref{Kind: hosting.NodeKind, ID: 1}
	node := hosting.Node{
		Name: "alpha", Cores: 99, MemoryMB: 1 << 20, DiskGB: 9999, Weight: 100, Templates: []string{"ubuntu-24=u24", "debian-12=d12"},
	}
	r := rent(t, hosting.Request{Ref: alpha, Spec: node.Fields().Values()})
	r.settled()
	r.act("reinstall", `{"os":"debian-12","confirm":"`+r.name+`"}`)
	row, err := r.For(projections.System).Hosting().Resource(t.Context(), hosting.Ref{Kind: "vm", ID: r.id})
	if m := hosting.NewMachine(0, ""); err != nil || row.Load(m) != nil || m.Template != "d12" {
		t.Errorf("made of %q (%v)", m.Template, err)
	}
	r.Do(t, hosting.Change{Ref: alpha, Spec: field.Values{"templates": []byte(`["debian-12=d12"]`)}})
	w := as(r.Shop, "ben", "POST", fmt.Sprintf("vms/%d/reinstall/", r.id), `{"os":"ubuntu-24","confirm":"`+r.name+`"}`)
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `"os":[`) {
		t.Errorf("a system that the node has no more: %d %s", w.Code, w.Body)
	}
	r.act("restart", "{}")
}

// A snapshot keeps a disk, is restored once, and ends with the disk. There are no more than
// the plan has.
func TestSnapshotsAreTakenRestoredAndEndWithTheDisk(t *testing.T) {
	t.Parallel()
	r := rent(t)
	r.settled()
	taken := func(name string, status int) map[string]any {
		return bodyOf(t, as(r.Shop, "ben", "POST", "vm-snapshots/", fmt.Sprintf(`{"vm":%d,"name":%q}`, r.id, name)), status)
	}
	names := func() (all []string) {
		list, err := r.at.Snapshots(t.Context(), r.settled().External, r.of)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range list {
			all = append(all, one.Name)
		}
		return all
	}
	first, second := taken("before", http.StatusCreated), taken("after", http.StatusCreated)
	path := fmt.Sprintf("vm-snapshots/%v/", first["id"])
	paneltest.WaitFor(t, func() bool { return bodyOf(t, as(r.Shop, "ben", "GET", path, ""), 200)["taken_at"] != nil })
	paneltest.WaitFor(t, func() bool { return len(names()) == 2 })
	refused := as(r.Shop, "ben", "POST", "vm-snapshots/", fmt.Sprintf(`{"vm":%d,"name":"third"}`, r.id))
	if refused.Code != http.StatusBadRequest || !strings.Contains(refused.Body.String(), "vm_snapshots") {
		t.Errorf("one too many: %d %s", refused.Code, refused.Body)
	}
	if w := as(r.Shop, "ben", "POST", path+"restore/", `{"confirm":"it"}`); w.Code != http.StatusBadRequest {
		t.Errorf("without its name: %d", w.Code)
	}
	bodyOf(t, as(r.Shop, "ben", "POST", path+"restore/", `{"confirm":"`+r.name+`"}`), http.StatusOK)
	if seen := r.settled(); seen.Disk != 2 || seen.State != compute.Running || len(names()) != 2 {
		t.Errorf("restored: %+v, %v", seen, names())
	}
	if w := as(r.Shop, "ben", "DELETE", fmt.Sprintf("vm-snapshots/%v/", second["id"]), ""); w.Code != http.StatusNoContent {
		t.Errorf("deleted: %d %s", w.Code, w.Body)
	}
	paneltest.WaitFor(t, func() bool { return len(names()) == 1 })
	r.act("reinstall", `{"confirm":"`+r.name+`"}`)
	paneltest.WaitFor(t, func() bool {
		return as(r.Shop, "ben", "GET", path, "").Code == http.StatusNotFound && len(names()) == 0
	})
}

// A password that was made up is shown once, to an administrator, in the API or on the page
// of the machine. The page says how to sign in before and after.
func TestThePasswordOfRootIsShownOnceToAnAdministrator(t *testing.T) {
	t.Parallel()
	r := rent(t)
	r.settled()
	path, page := fmt.Sprintf("vms/%d/root_password/", r.id), hosting.RecordPage("vms", r.id)
	paneltest.Has(t, r.Visiting(t, paneltest.Ben).Get(page).Body.String(), "ssh root@192.0.2.1", "Administrators can let the panel")
	for who, status := range map[string]int{"": 401, "eve": 403, "ben": 403} {
		if w := as(r.Shop, who, "POST", path, ""); w.Code != status {
			t.Errorf("%s: %d %s", who, w.Code, w.Body)
		}
	}
	shown := as(r.Shop, "ana", "POST", path, "")
	password, _ := bodyOf(t, shown, http.StatusOK)["root_password"].(string)
	if len(password) < 20 || shown.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%d letters, %s", len(password), shown.Header().Get("Cache-Control"))
	}
	if w := as(r.Shop, "ana", "POST", path, ""); w.Code != http.StatusConflict || w.Header().Get("X-Error-Code") != "no_password" {
		t.Errorf("again: %d %s", w.Code, w.Body)
	}
	paneltest.Has(t, r.Visiting(t, paneltest.Ana).Get(page).Body.String(), "from the rescue system")

	r.act("reinstall", `{"confirm":"`+r.name+`"}`)
	b := r.Visiting(t, paneltest.Ben)
	b.Get(page)
	_, sent := b.Fill("machine_restart", "form", "machine_password")
	if w := b.Do("POST", page, sent.Encode()); w.Code != http.StatusForbidden {
		t.Errorf("a member: %d", w.Code)
	}
	b = r.Visiting(t, paneltest.Ana)
	b.Get(page)
	text := b.Send("machine_password").Body.String()
	paneltest.Has(t, text, "Copy this now", "data-copy-name=\"Password of root\"")
	b.IsForEverybody(t, "en", text)
	if again := b.Get(page).Body.String(); strings.Contains(again, "Show the password") || strings.Contains(text, password) {
		t.Error("the button is there after the password was shown, or it was the old one")
	}
	if n := r.Count(t, `select count(*) from events where name = 'hosting.password_shown' and actor = 'user:2'`); n != 2 {
		t.Errorf("%d events say who has seen it", n)
	}
	if in := r.Count(t, `select count(*) from events where position($1 in events::text) > 0`, password); in > 0 ||
		strings.Contains(r.Logged.String(), password) {
		t.Error("the password stands in the log")
	}
}
