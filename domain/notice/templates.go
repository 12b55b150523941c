package notice

import (
	"maps"
	"slices"

	"hostpanel/domain"
	"hostpanel/domain/texts"
)

// SamplePanel is where the links of samples lead to: nowhere.
const SamplePanel = "https://panel.example"

// Templates are the names of all letters that there are: those about accounts
// and orders, and one for each notification.
func Templates() []string {
	names := slices.Collect(maps.Keys(catalogue))
	for occasion := range letters {
		names = append(names, string(occasion))
	}
	return slices.Sorted(slices.Values(names))
}

// Sample is an example of a mail, in Spanish or else in English, with links
// that lead nowhere. It lacks the sender. False: there is no such template.
func Sample(template, language string) (Letter, bool) {
	if !slices.Contains(Templates(), template) {
		return Letter{}, false
	}
	values := samples[texts.Spoken(language)]
	l := Letter{
		Occasion: Occasion(template), MessageID: "sample@panel.example", To: "ana@example.com", Name: "Ana Ruiz", Language: language,
		PanelURL: SamplePanel + "/", Order: values["number"], Plan: values["plan"],
	}
	if _, news := catalogue[template]; news {
		l.Occasion, l.News = News, sampleOf(template, language, values)
		l.Link, l.Unsubscribe = SamplePanel+l.News.URL, SamplePanel+"/notifications/unsubscribe/sample/"
		return l, true
	}
	if l.Link = SamplePanel + domain.PanelPath; l.Occasion != ApprovalLost && l.Occasion != OrderTenant {
		l.Username = l.To
	}
	if letters[l.Occasion].once {
		l.Link = SamplePanel + "/set-password/?token=sample"
	}
	return l, true
}

func sampleOf(template, language string, values map[string]string) Text {
	var pairs []string
	for gap, value := range values {
		pairs = append(pairs, gap, value)
	}
	return say(template, language, pairs...)
}

// samples are what stands in the gaps of texts in a preview.
var samples = map[string]map[string]string{
	"en": {
		"number": "ORD-20261121-7F3K9Q", "plan": "Basic", "method": "visa …4242", "name": "example.com", "kind": "site", "days": "14 days",
		"limit":   "2",
		"webhook": "1207", "provider": "bank", "event": "order.activated", "position": "48210", "projection": "orders",
		"reader": "sagas.reactions",
		"queue":  "engine:main", "code": "engine_credentials", "lacks": "login", "tenant": "5", "id": "7",
		"engine_id": "1207", "fields": "php_version", "host": "panel.example", "file": "/srv/panel/erasures",
		"witness": "auditor", "key": "7", "server": "node1",
		"step": "tenant.engine", "differs": "amount", "amount": "28.70 EUR", "rest": "12.10 EUR", "day": "Nov 28, 2026",
		"over": "sites: 7/5",
	},
	"es": {
		"number": "ORD-20261121-7F3K9Q", "plan": "Básico", "method": "visa …4242", "name": "example.com",
		"kind": "sitio", "days": "14 días", "limit": "2",
		"webhook": "1207", "provider": "bank", "event": "order.activated", "position": "48210", "projection": "orders",
		"reader": "sagas.reactions",
		"queue":  "engine:main", "code": "engine_credentials", "lacks": "login", "tenant": "5", "id": "7",
		"engine_id": "1207", "fields": "php_version", "host": "panel.example", "file": "/srv/panel/erasures",
		"witness": "auditor", "key": "7", "server": "node1",
		"step": "tenant.engine", "differs": "amount", "amount": "28.70 EUR", "rest": "12.10 EUR", "day": "28 nov 2026",
		"over": "sitios: 7/5",
	},
}
