package billing_test

import (
	"testing"

	"hostpanel/domain/hosting"
	"hostpanel/http/web"
	"hostpanel/paneltest"
)

// What a machine uses was read by the background; its owners see it in the API and as meters.
func TestOwnersSeeWhatAMachineUses(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	service := s.Running(t, 1)
	s.Machined(t, 991, 1, service)
	usage, page := servicesAPI+service.String()+"/vm/usage/", web.ServicesPath+service.String()+"/"
	look := func() string { return s.Call("GET", usage, "", paneltest.Bearer(s.Known["ben"])...).Body.String() }
	paneltest.Has(t, look(), `"read_at":null`, `"cpu_percent":null`, `"traffic_bytes":0`, `"traffic_limit_bytes":1000000000000`)
	if _, err := s.Owner.Exec(t.Context(), `
		with read as (insert into machine_usage (machine, tenant, read_at, epoch, cpu, received, sent, cores, memory_mb, disk_mb)
			values (991, 1, '2026-11-30 12:00Z', 'a', 0, 0, 0, 0.5, 512, 10240))
		insert into machine_traffic values (991, date_trunc('month', business_now() at time zone 'utc'), 1, 600000000000, 250000000000)`,
	); err != nil {
		t.Fatal(err)
	}
	paneltest.Has(t, look(), `"read_at":"2026-11-30T12:00:00Z"`, `"cpu_percent":25`, `"memory_used_mb":512`, `"disk_used_mb":10240`,
		`"received_bytes":600000000000`, `"traffic_bytes":850000000000`, `"traffic_state":"free"`)
	if w := s.Call("GET", usage, "", paneltest.Bearer(s.Known["eve"])...); w.Code != 404 {
		t.Errorf("of no tenant: %d %s", w.Code, w.Body)
	}
	for language, texts := range map[string][]string{
		"en": {"Usage", "Processor", "25 %", "850 of 1000 GB", `<progress aria-labelledby="usage-0" value="25" max="100"`},
		"es": {"Uso", "Procesador", "Tráfico del mes"},
	} {
		s.Do(t, paneltest.Speaks(paneltest.Ben, language))
		b := s.Visiting(t, paneltest.Ben)
		text := b.Get(page).Body.String()
		paneltest.Has(t, text, texts...)
		b.IsForEverybody(t, language, text)
	}
	s.Do(t, hosting.Disable{Ref: hosting.MachineRef(991), By: hosting.ByTraffic})
	paneltest.Has(t, look(), `"traffic_state":"stopped"`)
}

// The administrators of a tenant are told of each mark, once a month, in their language.
func TestAdministratorsAreToldOfTraffic(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).People(t)
	s.Do(t, paneltest.Speaks(paneltest.Ana, "es"), paneltest.Endpoint(7, 1))
	s.Start(t)
	service := s.Running(t, 1)
	s.Machined(t, 991, 1, service)
	count := func(gigabytes int64) {
		s.Do(t, hosting.CountTraffic{
			Ref: hosting.MachineRef(991), Month: "2026-11", Bytes: gigabytes * 1_000_000_000, LimitTB: 1, Excess: hosting.SlowTraffic,
		})
	}
	told := func(text string) bool {
		return s.Count(t, `select count(*) from notifications where user_id = $1 and message like $2`, paneltest.Ana, "%"+text+"%") == 1
	}
	count(810)
	count(820)
	s.Until(t, "80 % is told", func() bool { return told("ha usado el 80 % de su tráfico de 1 TB") })
	count(1000)
	count(1200)
	s.Until(t, "all is told", func() bool { return told("10 Mbit por segundo") })
	s.Until(t, "the endpoint is told of both", func() bool {
		return s.Count(t, `select count(*) from events where name = 'webhook.delivery_requested' and data::text like '%vm.traffic%'`) == 2
	})
	if s.Count(t, `select count(*) from notifications where user_id = $1`, paneltest.Ben) != 0 {
		t.Error("a member is told")
	}
	paneltest.Has(t, s.Call("GET", servicesAPI+service.String()+"/vm/usage/", "", paneltest.Bearer(s.Known["ben"])...).Body.String(),
		`"traffic_state":"slowed"`)
}
