package main

import (
	"context"
	"encoding/json"
	"fmt"

	"hostpanel/adapters/engine/ispconfig"
	"hostpanel/adapters/engine/ispconfig/ispconfigtest"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
)

// watching measures what it costs to bring one change to an ISPConfig and to see
// that it has been carried out, while 10,000 other tenants are changed within the
// half hour that a process reads back. The engine is the double, over HTTP.
func (r *run) watching(ctx context.Context) error {
	const jobBytes, sites = 3_000, 200 // of a job of a site; changed one after the other
	tenants := 10_000
	if r.Smoke {
		tenants = 400
	}
	double, end := ispconfigtest.Open()
	defer end()
	e, err := ispconfig.New(ispconfig.Config{
		Name: "main", URL: double.URL, User: ispconfigtest.User, Password: ispconfigtest.Password, Now: double.Now,
		Servers: ispconfig.Servers{Web: 1, Database: 1, DNS: 1, Mail: 1}, NameServers: []string{"ns1.example.test."},
	})
	if err != nil {
		return err
	}
	site, err := watchedSite(ctx, e)
	if err != nil {
		return err
	}
	calls, bytes := double.Calls(""), double.Told("")
	for i := range sites {
		site.Values = field.Values{"ip_address": json.RawMessage(`"*"`), "is_active": fmt.Appendf(nil, "%t", i%2 == 1)}
		if err := e.Change(ctx, site); err != nil {
			return err
		}
		for range 2 { // once before it has been carried out, once after
			if _, _, err := e.Find(ctx, "site", site.Name, ""); err != nil {
				return err
			}
			double.Bulk(tenants/sites/2, jobBytes)
			double.Tick()
		}
	}
	name := fmt.Sprintf("a site changed among %d tenants, ISPConfig", tenants)
	r.report(Result{Section: "hosting", Name: name + ", calls", Value: float64(double.Calls("")-calls) / sites, Unit: ""})
	r.report(Result{Section: "hosting", Name: name + ", answers", Value: float64(double.Told("")-bytes) / sites / 1000, Unit: "kB"})
	return nil
}

// watchedSite makes a tenant with a site.
func watchedSite(ctx context.Context, e *ispconfig.Engine) (site hosting.EngineObject, err error) {
	tenant := hosting.EngineObject{
		Kind: "tenant", Name: "t17", Ref: "t17",
		Values: field.Values{"name": []byte(`"Acme"`), "email": []byte(`"ada@acme.test"`)},
	}
	if tenant.ID, err = e.Create(ctx, tenant); err != nil {
		return site, err
	}
	site = hosting.EngineObject{
		Kind: "site", Owner: tenant.ID, Name: "acme.test", Values: field.Values{"ip_address": []byte(`"*"`), "is_active": []byte("true")},
	}
	site.ID, err = e.Create(ctx, site)
	return site, err
}
