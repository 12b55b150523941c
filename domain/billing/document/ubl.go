package document

import (
	"encoding/xml"
	"slices"

	"github.com/shopspring/decimal"
)

// A ubl is a document in the order of the elements of UBL 2.1. Invoices and credit notes
// differ in their root, in the element of their type, and in their lines.
type ubl struct {
	XMLName         xml.Name
	Namespace       string      `xml:"xmlns,attr"`
	Aggregates      string      `xml:"xmlns:cac,attr"`
	Basics          string      `xml:"xmlns:cbc,attr"`
	CustomizationID string      `xml:"cbc:CustomizationID"`
	ID              string      `xml:"cbc:ID"`
	IssueDate       string      `xml:"cbc:IssueDate"`
	DueDate         string      `xml:"cbc:DueDate,omitempty"`
	InvoiceType     string      `xml:"cbc:InvoiceTypeCode,omitempty"`
	CreditNoteType  string      `xml:"cbc:CreditNoteTypeCode,omitempty"`
	Note            string      `xml:"cbc:Note,omitempty"`
	Currency        string      `xml:"cbc:DocumentCurrencyCode"`
	Order           *orderID    `xml:"cac:OrderReference"`
	Credited        *creditedID `xml:"cac:BillingReference"`
	Seller          party       `xml:"cac:AccountingSupplierParty>cac:Party"`
	Buyer           party       `xml:"cac:AccountingCustomerParty>cac:Party"`
	Means           *means      `xml:"cac:PaymentMeans"`
	Terms           *terms      `xml:"cac:PaymentTerms"`
	Tax             taxTotal    `xml:"cac:TaxTotal"`
	Sums            sums        `xml:"cac:LegalMonetaryTotal"`
	InvoiceLines    []line      `xml:"cac:InvoiceLine"`
	CreditLines     []line      `xml:"cac:CreditNoteLine"`
}

type (
	orderID struct {
		ID string `xml:"cbc:ID"`
	}
	creditedID struct {
		ID        string `xml:"cac:InvoiceDocumentReference>cbc:ID"`
		IssueDate string `xml:"cac:InvoiceDocumentReference>cbc:IssueDate,omitempty"`
	}
	party struct {
		Street     string      `xml:"cac:PostalAddress>cbc:StreetName,omitempty"`
		City       string      `xml:"cac:PostalAddress>cbc:CityName,omitempty"`
		PostalZone string      `xml:"cac:PostalAddress>cbc:PostalZone,omitempty"`
		Country    string      `xml:"cac:PostalAddress>cac:Country>cbc:IdentificationCode"`
		Tax        *taxID      `xml:"cac:PartyTaxScheme"`
		Legal      legalEntity `xml:"cac:PartyLegalEntity"`
		Contact    *contact    `xml:"cac:Contact"`
	}
	taxID struct {
		ID     string `xml:"cbc:CompanyID"`
		Scheme string `xml:"cac:TaxScheme>cbc:ID"`
	}
	legalEntity struct {
		Name string `xml:"cbc:RegistrationName"`
		ID   string `xml:"cbc:CompanyID,omitempty"`
		Form string `xml:"cbc:CompanyLegalForm,omitempty"`
	}
	contact struct {
		Name  string `xml:"cbc:Name,omitempty"`
		Email string `xml:"cbc:ElectronicMail,omitempty"`
	}
	means struct {
		Code    meansCode `xml:"cbc:PaymentMeansCode"`
		ID      string    `xml:"cbc:PaymentID,omitempty"`
		Account *account  `xml:"cac:PayeeFinancialAccount"`
	}
	meansCode struct {
		Name string `xml:"name,attr,omitempty"`
		Code string `xml:",chardata"`
	}
	account struct {
		IBAN string  `xml:"cbc:ID"`
		Bank *bankID `xml:"cac:FinancialInstitutionBranch"`
	}
	bankID struct {
		BIC string `xml:"cbc:ID"`
	}
	terms struct {
		Note string `xml:"cbc:Note"`
	}
	taxTotal struct {
		Amount   amount      `xml:"cbc:TaxAmount"`
		Taxable  amount      `xml:"cac:TaxSubtotal>cbc:TaxableAmount"`
		Part     amount      `xml:"cac:TaxSubtotal>cbc:TaxAmount"`
		Category taxCategory `xml:"cac:TaxSubtotal>cac:TaxCategory"`
	}
	taxCategory struct {
		ID      string `xml:"cbc:ID"`
		Percent string `xml:"cbc:Percent,omitempty"`
		Exempt  string `xml:"cbc:TaxExemptionReasonCode,omitempty"`
		Reason  string `xml:"cbc:TaxExemptionReason,omitempty"`
		Scheme  string `xml:"cac:TaxScheme>cbc:ID"`
	}
	sums struct {
		Lines   amount  `xml:"cbc:LineExtensionAmount"`
		Net     amount  `xml:"cbc:TaxExclusiveAmount"`
		Gross   amount  `xml:"cbc:TaxInclusiveAmount"`
		Prepaid *amount `xml:"cbc:PrepaidAmount"`
		Due     amount  `xml:"cbc:PayableAmount"`
	}
	line struct {
		ID       string      `xml:"cbc:ID"`
		Invoiced *quantity   `xml:"cbc:InvoicedQuantity"`
		Credited *quantity   `xml:"cbc:CreditedQuantity"`
		Net      amount      `xml:"cbc:LineExtensionAmount"`
		Period   *period     `xml:"cac:InvoicePeriod"`
		Name     string      `xml:"cac:Item>cbc:Name"`
		Category taxCategory `xml:"cac:Item>cac:ClassifiedTaxCategory"`
		Price    amount      `xml:"cac:Price>cbc:PriceAmount"`
	}
	quantity struct {
		Unit  string `xml:"unitCode,attr"`
		Count int    `xml:",chardata"`
	}
	period struct {
		First string `xml:"cbc:StartDate"`
		Last  string `xml:"cbc:EndDate"`
	}
	amount struct {
		Currency string `xml:"currencyID,attr"`
		Value    string `xml:",chardata"` // two decimal places
	}
)

func (a amount) number() decimal.Decimal { return decimal.RequireFromString(a.Value) }

func (u ubl) lines() []line { return slices.Concat(u.InvoiceLines, u.CreditLines) }
