package paneltest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// ALook is how the panel looks to each tenant.
var ALook = &hosting.WhiteLabel{
	BrandName: "Brand", PrimaryColor: "#4F46E5", SecondaryColor: "#10B981", SidebarBGColor: "#1F2937", SidebarColor: "#F9FAFB", CustomCSS: "h1{letter-spacing:1px}", IsActive: true,
}

// OneOfEach gives a tenant one resource of each kind, all with this id.
func (s *Shop) OneOfEach(t *testing.T, id, tenant int64) {
	t.Helper()
	domain := fmt.Sprintf("n%d.example", id)
	for _, one := range []struct{ kind, body string }{
		{"site", `{"domain":"n1.example"}`},
		{"database", `{"name":"n1","site":1}`},
		{"dns_zone", `{"origin":"n1.example."}`},
		{"dns_record", `{"zone":1,"record_type":"A","name":"@","data":"192.0.2.1"}`},
		{"mail_domain", `{"domain":"n1.example"}`},
		{"mailbox", `{"mail_domain":1,"local_part":"box","password":"{secret}"}`},
		{"mail_alias", `{"mail_domain":1,"source":"info","destination":"a@b.example"}`},
		{"ftp_account", `{"site":1,"username":"n1","password":"{secret}"}`},
		{"shell_user", `{"site":1,"username":"n1","password":"{secret}"}`},
		{"cron_job", `{"site":1,"schedule":"@daily","command":"https://n1.example/"}`},
		{"ssl_certificate", `{"site":1}`},
	} {
		kind, _ := hosting.KindNamed(one.kind)
		place := hosting.Place{ID: id, Tenant: tenant, Limits: hosting.NoLimits(), NameServers: []string{"ns1.panel.example."}}
		place.Parent = field.Values{"domain": []byte(`"` + domain + `"`), "origin": []byte(`"` + domain + `."`), "ttl": []byte("3600")}
		body := strings.NewReplacer("n1", fmt.Sprint("n", id), ":1", fmt.Sprint(":", id), "{secret}", uuid.NewString()).Replace(one.body)
		spec := kind.New()
		if _, err := spec.Fields().DecodeJSON([]byte(body), field.Create); err != nil {
			t.Fatal(one.kind, err)
		}
		hosting.Complete(spec, place)
		s.Do(t, hosting.Request{Ref: hosting.Ref{Kind: one.kind, ID: id}, Tenant: tenant, Spec: spec.Fields().Values(), Subject: uuid.New()})
	}
}

var Variable = regexp.MustCompile(`\{[^{}]*(\{[^{}]*\}[^{}]*)*\}`)
