//go:build system

package program_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/adapters/compute/libvirt/libvirttest"
	"hostpanel/cmd/hostpanel/serve"
	"hostpanel/domain/compute"
	"hostpanel/http/browsertest"
	"hostpanel/tests/processtest"
)

// An ownedMachine is one that a customer has ordered, with what its system has reported.
type ownedMachine struct {
	*processtest.Process
	node     *libvirttest.Server
	operator string // in Authorization, as customer
	customer string
	reports  int

	ID, Tenant     int64
	Name, Hostname string
	UUID           uuid.UUID
	Addresses      []string
	State          string // from the hypervisor
	order          string
}

// A server is ordered in the shop of the demo and boots on QEMU. What its system reports is
// what the panel shows, from the first start to the end.
func TestAServerFromTheWidgetBootsAndReportsWhatThePanelShows(t *testing.T) {
	t.Parallel()
	node := libvirttest.Start(t)
	node.BootableTemplates(t)
	h := processtest.NewHome(t)
	h.Env = []string{"HOSTPANEL_REFUND_GRACE=0", "HOSTPANEL_COMPUTE=laptop=" + libvirttest.URL("qemu", node.Socket()) +
		"&pool=machines&network=user&rescue=rescue.qcow2&emulated=on&serial=" + url.QueryEscape(node.Serial)}
	m := &ownedMachine{Process: h.Start(), node: node}
	d := h.Demo()
	m.sold(h, d)
	m.orderedIn(d.Shop.URL)
	link := processtest.LinkIn(t, processtest.MailsAbout(t, h.Dir, "ORD-")[0])
	m.customer = m.signIn(link, "ana@customer.example")
	m.reported("1")

	m.act("shutdown", "stopped")
	m.act("start", "running")
	m.reported("2")
	m.act("reinstall", "running")
	m.reported("1") // its disk is new

	kept := m.call(201, "POST", "/hosting/api/rest/vm-snapshots/", fmt.Sprintf(`{"vm":%d,"name":"one"}`, m.ID)).Number(t, "id")
	snapshot := fmt.Sprintf("/hosting/api/rest/vm-snapshots/%.0f/", kept)
	processtest.Eventually(t, "the snapshot is taken", func() bool {
		return !strings.Contains(m.call(200, "GET", snapshot, "").Body, `"taken_at":null`)
	})
	m.act("restart", "running")
	m.reported("2")
	m.call(200, "POST", snapshot+"restore/", fmt.Sprintf(`{"confirm":%q}`, m.Name))
	m.reported("2") // the snapshot has one start

	m.setStatus("suspended")
	m.is("stopped")
	m.setStatus("active")
	m.reported("3")
	h.Must("orders", "cancel", m.order, "--reason", "the trial is over")
	processtest.Eventually(t, "nothing of the machine is left", func() bool {
		volumes, err := os.ReadDir(node.Pool)
		return err == nil && len(volumes) == 2 // the templates
	})
	m.Stop()
}

// sold prepares the plan of the demo, a node and addresses.
func (m *ownedMachine) sold(h processtest.Home, d serve.Demo) {
	h.T.Helper()
	m.operator = "Bearer " + m.SignIn(d.Superuser).Field(h.T, "access")
	h.Must("nodes", "create", "name=laptop", "cores=4", "memory_mb=1024", "disk_gb=10", `templates=["debian-12=own.qcow2"]`)
	h.Must("address-pools", "create", "name=four", "network=192.0.2.0/24", "gateway=192.0.2.1")
	h.Must("address-pools", "create", "name=six", "network=2001:db8::/48", "gateway=fe80::1")
	h.Must("plans", "change", fmt.Sprint(d.Plans.VPS), "vps_memory_mb=160", "vps_disk_gb=1", "vps_snapshots=1",
		`vps_os_options=["debian-12"]`)
}

func (m *ownedMachine) call(want int, method, path, body string) processtest.Answer {
	m.T.Helper()
	return m.Ask(want, method, path, body, "Authorization", m.customer, "Content-Type", processtest.AsJSON)
}

// orderedIn orders and pays the server in the shop, and waits there until it runs.
func (m *ownedMachine) orderedIn(shop string) {
	m.T.Helper()
	p := browsertest.Open(m.T)
	p.Go(shop)
	p.Click(`button[aria-label="Order: VPS 2"]`)
	p.Type("#hp-hostname", "www.acme.test")
	p.Type("#hp-customer_name", "Ana Ruiz")
	p.Type("#hp-customer_email", "ana@customer.example")
	p.Click("dialog button[type=submit]")
	p.Until(`location.pathname.startsWith("/storefront/checkout/test/")`)
	p.Click(`button[value="pay"]`)
	p.See("Everything is ready")
	order, err := url.Parse(p.Text("location.href"))
	must(m.T, err)
	m.order = order.Query().Get("order_id")
}

// signIn sets the password that the welcome mail asks for.
func (m *ownedMachine) signIn(link, email string) string {
	m.T.Helper()
	const password = "correct horse battery"
	set := url.Values{"token": {processtest.TokenOf(m.T, link)}, "password": {password}, "password_repeat": {password}}
	m.Ask(303, "POST", "/set-password/", set.Encode(), "Content-Type", processtest.AsForm)
	return "Bearer " + m.SignIn(serve.Login{Username: email, Password: password}).Field(m.T, "access")
}

// reported waits for the next report of the machine's system, and compares it with the panel.
func (m *ownedMachine) reported(starts string) {
	m.T.Helper()
	var all struct{ Results []json.RawMessage }
	must(m.T, json.Unmarshal([]byte(m.call(200, "GET", "/hosting/api/rest/vms/", "").Body), &all))
	must(m.T, json.Unmarshal(all.Results[0], m))
	m.reports++
	r := m.node.Report(m.T, m.Name, m.reports)
	want := libvirttest.Report{
		System: "own", UUID: m.UUID.String(), MAC: compute.MAC(m.UUID), Addresses: strings.Join(m.Addresses, ",") + ",",
		Host: m.Hostname, Starts: starts, Bytes: fmt.Sprint(1 << 30),
	}
	if r != want || m.Hostname != "www.acme.test" || len(m.Addresses) != 2 {
		m.T.Errorf("the system reports %+v; the panel shows %+v", r, want)
	}
	m.is("running")
}

// act does something with the machine, as its owner.
func (m *ownedMachine) act(name, state string) {
	m.T.Helper()
	body := "{}"
	if name == "reinstall" {
		body = fmt.Sprintf(`{"confirm":%q}`, m.Name)
	}
	m.call(200, "POST", fmt.Sprintf("/hosting/api/rest/vms/%d/%s/", m.ID, name), body)
	m.is(state)
}

// is waits until the hypervisor tells a state of the machine.
func (m *ownedMachine) is(state string) {
	m.T.Helper()
	processtest.Eventually(m.T, "the machine is "+state, func() bool {
		return m.call(200, "GET", "/billing/api/v1/services/"+m.order+"/vm/", "").Field(m.T, "state") == state
	})
}

// setStatus lets an operator suspend the machine's tenant, or let it go on.
func (m *ownedMachine) setStatus(status string) {
	m.T.Helper()
	m.Ask(200, "PATCH", fmt.Sprintf("/hosting/api/rest/tenants/%d/", m.Tenant), fmt.Sprintf(`{"status":%q}`, status),
		"Authorization", m.operator, "Content-Type", processtest.AsJSON)
}
