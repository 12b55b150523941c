package document_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shopspring/decimal"

	"hostpanel/domain/billing"
	"hostpanel/domain/billing/document"
	"hostpanel/domain/tax"
)

var update = flag.Bool("update", false, "write testdata/*.xml anew")

// documents are one of each form of the XML.
func documents() map[string]document.Document {
	paid := document.OfInvoice(issued, terms)
	open, euros := issued, terms
	open.Status, open.Currency, open.TaxRate, open.Tax, open.Subtotal = "open", "JPY", decimal.Zero, decimal.Zero, amount("1200")
	open.Total, open.Lines = amount("1200"), []billing.Line{
		{Text: "VPS <4 GB>", PeriodStart: noon, PeriodEnd: noon.AddDate(0, 1, 0), Total: amount("1200")},
	}
	euros.Language, euros.Method, euros.Due = "en", "", noon.AddDate(0, 0, 14)
	free := open
	free.Seller.TaxID, free.Seller.IBAN, free.Company, free.TaxID = "", "", "", "ESB87654321"
	atOnce := terms
	atOnce.Method = ""
	change := issued
	change.Status, change.Total, change.Subtotal, change.Tax = "open", amount("3.5"), amount("2.89"), amount("0.61")
	change.Lines = []billing.Line{
		{Text: "Grande, rest of the period", PeriodStart: noon, PeriodEnd: noon.AddDate(0, 0, 14), Total: amount("5")},
		{Text: "Unused time of Básico", PeriodStart: noon, PeriodEnd: noon.AddDate(0, 0, 14), Total: amount("-1.5")},
	}
	part := open
	part.Prepaid = amount("500")
	french := issued
	french.Treatment = tax.Treatment{
		TaxKind: tax.ReverseCharge, TaxCountry: "FR", TaxRemoved: amount("21"), TaxIDAcceptedBy: "system:storefront",
	}
	french.City, french.PostalCode, french.Country, french.TaxID = "Lyon", "69001", "FR", "FR 12 345678901"
	french.Total, french.Subtotal, french.Tax, french.TaxRate = amount("31.98"), amount("31.98"), decimal.Zero, decimal.Zero
	french.Lines = []billing.Line{
		{Text: "Básico (yearly)", PeriodStart: noon, PeriodEnd: noon.AddDate(1, 0, 0), Total: amount("23.72")},
		{Text: "Setup fee", Total: amount("8.26")},
	}
	back := credited
	back.Treatment, back.Total, back.Subtotal, back.Tax, back.TaxRate = french.Treatment, amount("8.26"),
		amount("8.26"), decimal.Zero, decimal.Zero
	consumer := issued
	consumer.Treatment = tax.Treatment{TaxKind: tax.OneStopShop, TaxCountry: "FI"}
	consumer.Company, consumer.City, consumer.PostalCode, consumer.Country, consumer.TaxID = "", "Turku", "20100", "FI", ""
	consumer.TaxRate, consumer.Subtotal, consumer.Tax = amount("25.5"), amount("30.84"), amount("7.86")
	american, islander, small := french, change, open
	american.Treatment = tax.Treatment{TaxKind: tax.Outside, TaxCountry: "US", TaxRemoved: amount("21")}
	american.City, american.PostalCode, american.Country, american.TaxID = "Boston", "02108", "US", "XI123456789"
	islander.Treatment = tax.Treatment{TaxKind: tax.Foreign, TaxCountry: "ES-CN"}
	islander.City, islander.PostalCode, islander.TaxRate, islander.Subtotal, islander.Tax = "Arrecife", "35500", amount("7"),
		amount("3.27"), amount("0.23")
	small.Seller.Exemption = "Exento: artículo 20 de la Ley 37/1992"
	return map[string]document.Document{
		"prepaid":      document.OfInvoice(part, euros),
		"outsideunion": document.OfInvoice(american, terms), "igic": document.OfInvoice(islander, euros),
		"exempt":            document.OfInvoice(small, euros),
		"reversecharge":     document.OfInvoice(french, terms),
		"reversechargeback": document.OfCreditNote(back, document.OfInvoice(french, terms), ""),
		"oneshop":           document.OfInvoice(consumer, terms), "change": document.OfInvoice(change, euros),
		"invoice": paid, "creditnote": note(),
		"open": document.OfInvoice(open, euros), "outside": document.OfInvoice(free, atOnce),
	}
}

// The golden files were held against the published schemas and rules (docs/invoices.md).
func TestDocumentsAreWrittenAsUBL(t *testing.T) {
	for name, d := range documents() {
		got, err := document.XML(d)
		if err != nil {
			t.Fatal(name, err)
		}
		path := filepath.Join("testdata", name+".xml")
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from %s:\n%s", name, path, got)
		}
	}
}

// Texts of people never break the XML: a strict reader reads it, and what they wrote comes
// back. A control character, which XML cannot hold, becomes U+FFFD.
func TestTheXMLIsWellFormedWhateverPeopleAreCalled(t *testing.T) {
	e := issued
	e.Company = "</cbc:ID> <!-- & \"Ж\" ]]> \x00\n"
	text, err := document.XML(document.OfInvoice(e, terms))
	if err != nil {
		t.Fatal(err)
	}
	var read strings.Builder
	reader := xml.NewDecoder(bytes.NewReader(text))
	for {
		token, err := reader.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, is := token.(xml.CharData); is {
			read.Write(data)
		}
	}
	if !strings.Contains(read.String(), "</cbc:ID> <!-- & \"Ж\" ]]> \uFFFD\n") {
		t.Error(read.String())
	}
}
