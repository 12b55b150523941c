//go:build system

package program_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"time"

	"hostpanel/tests/processtest"
)

const hostingAPI = "/hosting/api/rest/"

// hosts does what a tenant does with passwords and keys of its own, and with
// those that the panel makes up.
func (m *mine) hosts() {
	t := m.Home.T
	as := m.tenantAdmin()
	ask := func(want int, method, path, body string, more ...string) processtest.Answer {
		return m.call(want, method, hostingAPI+path, body, append(more, as...)...)
	}
	once := []string{"Idempotency-Key", m.secret("Idempotency-Key of a site")}
	const all = `{"domain":"keeps.example","create_mail":true,"create_ftp":true,"create_db":true}`
	made := ask(201, "POST", "sites/provision_full/", all, once...)
	site := m.credentialsOf(made)
	ask(201, "POST", "sites/provision_full/", all, once...)

	account := fmt.Sprintf(`{"site":%d,"username":"canary","password":%%q}`, site)
	ftp := ask(201, "POST", "ftp-accounts/", fmt.Sprintf(account, m.secret("password of an FTP account")))
	one := fmt.Sprintf("ftp-accounts/%d/", int64(ftp.Number(t, "id")))
	ask(200, "PATCH", one, fmt.Sprintf(`{"password":%q}`, m.secret("later password of an FTP account")))
	ask(400, "PATCH", one, fmt.Sprintf(`{"password":%q}`, strings.Repeat(m.secret("password that is too long"), 8)))
	ask(400, "POST", "ftp-accounts/", fmt.Sprintf(account, m.secret("password of an FTP account whose name is taken")))
	ask(201, "POST", "mailboxes/", fmt.Sprintf(`{"mail_domain":1,"local_part":"info","password":%q}`,
		m.secret("password of a mailbox")), "Prefer", "respond-async")
	ask(201, "POST", "shell-users/", fmt.Sprintf(`{"site":%d,"username":"canarysh","password":%q}`, site,
		m.secret("password of a shell user")))
	ask(201, "POST", "databases/", fmt.Sprintf(`{"name":"chosen","db_password":%q}`, m.secret("password of a database")))
	certificate, key := m.certificate("keeps.example")
	ask(201, "POST", "ssl-certificates/", fmt.Sprintf(`{"site":%d,"cert_type":"custom","certificate":%q,"private_key":%q}`,
		site, certificate, key))
	ask(202, "POST", fmt.Sprintf("sites/%d/install_cms/", site),
		fmt.Sprintf(`{"cms":"joomla","admin_password":%q}`, m.secret("password of a CMS")))
	for _, list := range []string{"ftp-accounts/", "mailboxes/", "shell-users/", "databases/", "ssl-certificates/"} {
		processtest.Eventually(t, "the engine has all of "+list, func() bool {
			return !strings.Contains(ask(200, "GET", list, "").Body, `"pending"`)
		})
	}
	m.rents(as)
}

// rents a machine whose password of root was made up, and installs it with another one.
func (m *mine) rents(as []string) {
	t := m.Home.T
	order := fmt.Sprintf(`{"plan_id":%d,"payment_method":"test"}`, m.demo.Plans.VPS)
	placed := m.call(201, "POST", "/billing/api/v1/orders/", order, as...)
	m.call(303, "POST", processtest.PathOf(t, placed.Field(t, "payment_url")), "action=pay", "Content-Type", processtest.AsForm)
	var list struct {
		Results []struct {
			ID            int64
			Name, Address string
		}
	}
	processtest.Eventually(t, "the machine has an address", func() bool {
		err := json.Unmarshal([]byte(m.call(200, "GET", hostingAPI+"vms/", "", as...).Body), &list)
		return err == nil && len(list.Results) == 1 && list.Results[0].Address != ""
	})
	one := fmt.Sprintf("%svms/%d/", hostingAPI, list.Results[0].ID)
	m.known("password of root", m.call(200, "POST", one+"root_password/", "{}", as...).Field(t, "root_password"))
	m.call(409, "POST", one+"root_password/", "{}", as...)
	m.call(200, "POST", one+"reinstall/",
		fmt.Sprintf(`{"confirm":%q,"root_password":%q}`, list.Results[0].Name, m.secret("later password of root")), as...)
	m.actsOnTheMachine(list.Results[0].Name)
}

// actsOnTheMachine does at the command line what its owner may do.
func (m *mine) actsOnTheMachine(name string) {
	t := m.Home.T
	if list := m.Must("machines", "list"); !strings.Contains(list, name) {
		t.Errorf("the list lacks %s:\n%s", name, list)
	}
	for says, args := range map[string][]string{
		"confirm: Type the name of the machine.": {"reinstall", name, "--confirm", "vm"},
		`nothing is called "melt"`:               {"melt", name},
		`there is no virtual server "vm"`:        {"restart", "vm"},
	} {
		if _, complaint, code := m.Command(append([]string{"machines"}, args...)...); code == 0 || !strings.Contains(complaint, says) {
			t.Errorf("%v: %d %s", args, code, complaint)
		}
	}
	m.Must("machines", "restart", name)
	m.Must("machines", "reinstall", name, "--confirm", name)
	if list := m.Must("machines", "list", "--json"); !strings.Contains(list, `"boots": 2`) || !strings.Contains(list, `"disks": 3`) {
		t.Errorf("after a restart and two installations: %s", list)
	}
}

// credentialsOf makes what the panel has made up known, and tells the site's number.
func (m *mine) credentialsOf(made processtest.Answer) int64 {
	m.Home.T.Helper()
	var shown struct {
		Site        struct{ ID int64 }
		Credentials struct {
			FTP      struct{ Password string }
			Database struct {
				Password string `json:"db_password"`
			}
		}
	}
	if err := json.Unmarshal([]byte(made.Body), &shown); err != nil || shown.Credentials.FTP.Password == "" ||
		shown.Credentials.Database.Password == "" {
		m.Home.T.Fatalf("no credentials were shown: %v", err)
	}
	m.known("FTP password that was made up", shown.Credentials.FTP.Password)
	m.known("database password that was made up", shown.Credentials.Database.Password)
	return shown.Site.ID
}

// certificate makes one of its own for a name, and makes its key known by a
// line of it.
func (m *mine) certificate(name string) (certificate, key string) {
	t := m.Home.T
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	plan := x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().AddDate(0, 3, 0),
	}
	signed, err := x509.CreateCertificate(rand.Reader, &plan, &plan, &private.PublicKey, private)
	must(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(private)
	must(t, err)
	key = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	m.known("private key of a certificate", strings.Split(key, "\n")[1])
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed})), key
}
