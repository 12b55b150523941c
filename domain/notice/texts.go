package notice

import (
	"maps"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/texts"
)

// A Text is what a notification says.
type Text struct {
	Template       string // by which it stands in the catalogue: "order_active"
	Language       string // "es" or "en"
	Type           Type
	Title, Message string
	URL            string // path within the panel
}

// ToOperators tells whether it is for those who operate the installation, and
// so in the panel's name.
func (t Text) ToOperators() bool {
	_, is := operators[t.Template]
	return is
}

// InWelcome is why the mail of a notification is not sent whose news the welcome mail of
// the order has told.
const InWelcome = "in_welcome_mail"

// IsInWelcome tells whether the welcome mail of an order says the same.
func (t Text) IsInWelcome() bool {
	return t.Template == "invoice_created" || strings.HasPrefix(t.Template, "order_active")
}

// say is a notification in the words of the catalogue, in Spanish ("es",
// "es-MX") or else in English. The values follow the names of the gaps that
// they fill.
func say(template, language string, values ...string) Text {
	return Text{
		Template: template, Language: texts.Spoken(language), Type: catalogue[template], URL: pageOf(template),
		Title: texts.Say(language, "notice."+template+".title"), Message: texts.Say(language, "notice."+template+".message", values...),
	}
}

// Where users see what they are told of.
const (
	AccountPath        = "/account/"
	FactorPath         = AccountPath + "second-factor/"
	InvoicesPath       = "/billing/invoices/"
	ServicesPath       = "/billing/services/"
	PaymentMethodsPath = "/billing/payment-methods/"
	OrdersPath         = "/storefront/orders/"
	IncidentsPath      = "/storefront/incidents/"
)

// InvoicePage is the path of the page of an invoice, for its tenant.
func InvoicePage(invoice uuid.UUID) string { return InvoicesPath + invoice.String() + "/" }

// ServicePage is the path of the page of a service, by its order, for its tenant.
func ServicePage(order uuid.UUID) string { return ServicesPath + order.String() + "/" }

// ExportPage is the path of the page where all data of a tenant is downloaded.
func ExportPage(tenant int64) string {
	return domain.PanelPath + "tenants/" + strconv.FormatInt(tenant, 10) + "/export/"
}

// OrderPage is the path of the page of an order, for operators.
func OrderPage(order uuid.UUID) string { return OrdersPath + order.String() + "/" }

// IncidentPage is the path of the page of an incident, for operators.
func IncidentPage(incident uuid.UUID) string { return IncidentsPath + incident.String() + "/" }

// pageOf is the path to which a notification leads, where it is not known what exactly it
// is about.
func pageOf(template string) string {
	for _, lead := range leads {
		if _, is := lead.told[template]; is {
			return lead.page
		}
	}
	return "/"
}

// At is the text with a link to the page at a path, of what it is about.
func (t Text) At(path string) Text {
	t.URL = path
	return t
}

// merged is one catalogue of several. No name stands in two of them.
func merged(parts ...map[string]Type) map[string]Type {
	all := map[string]Type{}
	for _, part := range parts {
		for name := range part {
			if _, twice := all[name]; twice {
				panic("notice: two texts are called " + name)
			}
		}
		maps.Copy(all, part)
	}
	return all
}
