package hosting_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"hostpanel/domain/account"
	"hostpanel/domain/hosting"
	"hostpanel/paneltest"
)

const exportOne = paneltest.TenantOne + "export/"

// unpacked are the files of an archive in their order, and what they hold.
func unpacked(t *testing.T, w *httptest.ResponseRecorder) (names []string, files map[string]string) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
	if err != nil || w.Code != http.StatusOK {
		t.Fatal(w.Code, err, w.Body)
	}
	files = map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		names, files[f.Name] = append(names, f.Name), string(content)
	}
	return names, files
}

// twoTenantsWithAll gives tenants 1 and 2 a record of each kind, invoices and credit notes.
func twoTenantsWithAll(t *testing.T) *paneltest.Shop {
	t.Helper()
	s := paneltest.Open(t).People(t)
	for tenant := int64(1); tenant <= 2; tenant++ {
		s.OneOfEach(t, tenant, tenant)
		s.Do(t, paneltest.Endpoint(tenant, tenant))
		s.Do(t, hosting.Request{
			Ref: hosting.Ref{Kind: "whitelabel", ID: tenant}, Tenant: tenant,
			Spec: paneltest.Look.Fields().Values(),
		})
		s.Billed(t, tenant)
	}
	s.Documented(t)
	return s
}

// An administrator fetches everything that the panel knows of the tenant, as the API shows
// it, and nothing of a neighbour who has the same of everything.
func TestAnExportHoldsAllOfATenantAndNothingOfItsNeighbour(t *testing.T) {
	t.Parallel()
	s := twoTenantsWithAll(t)
	ana := paneltest.Bearer(s.Known["ana"])
	w := s.Call("GET", exportOne, "", ana...)
	names, files := unpacked(t, w)
	h := w.Header()
	if h.Get("Content-Type") != "application/zip" || h.Get("Cache-Control") != "no-store" ||
		!strings.HasPrefix(h.Get("Content-Disposition"), `attachment; filename="t1-20`) {
		t.Error(h)
	}
	want := []string{"tenant.json"}
	for _, kind := range hosting.Kinds {
		if kind.Announced() {
			want = append(want, kind.Collection+".json")
		}
		if kind.Serial {
			want = append(want, "zones/n1.example.zone")
		}
	}
	want = append(want, "webhook-endpoints.json", "subscriptions.json", "invoices.json", "credit-notes.json",
		"invoices/INV-2026-000001.pdf", "invoices/CN-2026-000001.pdf", "README.txt")
	if !slices.Equal(names, want) {
		t.Errorf("%v\n%v", names, want)
	}
	for _, kind := range hosting.Kinds {
		if !kind.Announced() {
			continue
		}
		list := s.Call("GET", "/hosting/api/rest/"+kind.Collection+"/", "", ana...).Body.String()
		_, results, _ := strings.Cut(list, `"results":[`)
		shown := strings.TrimSuffix(results, "]}")
		if got := files[kind.Collection+".json"]; got != "[\n"+shown+"\n]\n" && (shown != "" || got != "[]\n") {
			t.Errorf("%s: %s, and the API shows %s", kind.Name, got, shown)
		}
	}
	if tenant := s.Call("GET", paneltest.TenantOne, "", ana...).Body.String() + "\n"; files["tenant.json"] != tenant {
		t.Errorf("%s, not %s", files["tenant.json"], tenant)
	}
	paneltest.Has(t, files["zones/n1.example.zone"], "$ORIGIN n1.example.\n", "192.0.2.1\n")
	paneltest.Has(t, files["README.txt"], "dns-records.json", " UTC.")
	for name, content := range files {
		if strings.HasSuffix(name, ".pdf") != strings.HasPrefix(content, "%PDF-") {
			t.Errorf("%s begins with %.8q", name, content)
		}
		for _, foreign := range []string{
			"n2.example", `"tenant":2`, `"site":2`, `private_key":"`, `password":"`,
			`secret":"`,
		} {
			if strings.Contains(content, foreign) {
				t.Errorf("%s holds %s", name, foreign)
			}
		}
	}
	head := s.Call("HEAD", exportOne, "", ana...)
	if head.Code != http.StatusOK || head.Header().Get("Content-Length") == "0" || head.Body.Len() != 0 {
		t.Error(head.Code, head.Header())
	}
}

func TestAnExportIsForAdministratorsAlone(t *testing.T) {
	t.Parallel()
	s := twoTenantsWithAll(t)
	s.Person(t, 90, "carl@example.com", false)
	s.Do(t, account.GrantMembership{User: 90, Tenant: 2, Role: account.Admin, At: time.Now()})
	s.Known["carl"] = s.Token(t, 90, nil)
	s.Answers(t, "GET", exportOne, "", map[string]int{"ana": 200, "ben": 403, "carl": 404, "root": 200})
	s.Answers(t, "GET", tenantsAPI+"2/export/", "", map[string]int{"ana": 403, "carl": 200}) // ana is a member there
	s.Answers(t, "GET", tenantsAPI+"999/export/", "", map[string]int{"ana": 404, "root": 404})
	_, files := unpacked(t, s.Call("GET", exportOne, "", paneltest.Bearer(s.Known["root"])...))
	for name, content := range files {
		if strings.Contains(content, "n2.example") || name == "invoices.json" && strings.Contains(content, `"reference"`) {
			t.Errorf("an operator gets more than the tenant: %s", name)
		}
	}
}

// A tenant that is suspended, for whatever reason, still has its data; one that is
// terminated does not.
func TestAnExportCanBeHadUntilTheTenantIsTerminated(t *testing.T) {
	t.Parallel()
	s := twoTenantsWithAll(t)
	patched(t, s, paneltest.TenantOne, `{"status":"suspended","suspended_reason":"The invoice is not paid."}`)
	_, files := unpacked(t, s.Call("GET", exportOne, "", paneltest.Bearer(s.Known["ana"])...))
	paneltest.Has(t, files["tenant.json"], `"status":"suspended"`)
	paneltest.Has(t, files["sites.json"], "n1.example", `"is_active":false`)
	patched(t, s, paneltest.TenantOne, `{"status":"terminated"}`)
	s.Answers(t, "GET", exportOne, "", map[string]int{"ana": 403, "root": 404})
}

// Administrators of the parent fetch the data of a sub-tenant, which is not in that of the
// parent.
func TestAResellerFetchesTheExportOfASubTenant(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	reseller(t, s, 3, false)
	path, id := subTenant(t, s, "Client")
	for site, of := range map[int64]int64{50: id, 1: 1} {
		s.Do(t, hosting.Request{
			Ref: hosting.Ref{Kind: "site", ID: site}, Tenant: of,
			Spec: (&hosting.Site{Domain: fmt.Sprintf("n%d.example", site)}).Fields().Values(),
		})
	}
	_, files := unpacked(t, s.Call("GET", path+"export/", "", paneltest.Bearer(s.Known["ana"])...))
	paneltest.Has(t, files["sites.json"], "n50.example")
	_, own := unpacked(t, s.Call("GET", exportOne, "", paneltest.Bearer(s.Known["ana"])...))
	if strings.Contains(files["sites.json"], "n1.example") || strings.Contains(own["sites.json"], "n50.example") {
		t.Error("parent and sub-tenant are mixed")
	}
	s.Answers(t, "GET", path+"export/", "", map[string]int{"ben": 403, "eve": 403})
}

// A document that is not stored yet is named, and nothing else waits for it.
func TestAnExportNamesTheDocumentsThatItLacks(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Billed(t, 1)
	names, files := unpacked(t, s.Call("GET", exportOne, "", paneltest.Bearer(s.Known["ana"])...))
	if slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(n, ".pdf") }) {
		t.Error(names)
	}
	paneltest.Has(t, files["README.txt"], "invoices/INV-2026-000001.pdf")
}
