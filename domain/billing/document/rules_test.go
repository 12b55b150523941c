package document

import (
	"strings"
	"testing"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/billing"
	"hostpanel/domain/tax"
)

func amountOf(text string) decimal.Decimal { return decimal.RequireFromString(text) }

// sound is an open invoice that keeps all rules.
func sound() Document {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	return Document{
		Kind: Invoice, Number: "INV-2026-000001", Issued: at, Due: at.AddDate(0, 0, 14), Currency: "EUR", Language: "en",
		Seller: billing.Seller{Name: "Hoster SL", Country: "ES", TaxID: "ESB12345678"}, Buyer: Buyer{Name: "Ana Ruiz", Country: "ES"},
		Lines: []Line{{
			billing.Line{Text: "Basic", PeriodStart: at, PeriodEnd: at.AddDate(0, 1, 0), Total: amountOf("12.10")},
			amountOf("10"),
		}},
		TaxRate: amountOf("21"), Total: amountOf("12.10"), Subtotal: amountOf("10"), Tax: amountOf("2.10"),
	}
}

func TestADocumentThatBreaksARuleIsRefusedWithItsName(t *testing.T) {
	if err := sound().Check(); err != nil {
		t.Fatal(err)
	}
	for rule, spoil := range map[string]func(*Document){
		"BR-02":    func(d *Document) { d.Number = "" },
		"BR-03":    func(d *Document) { d.Issued = time.Time{} },
		"BR-05":    func(d *Document) { d.Currency = "ZZZ" },
		"BR-CL-04": func(d *Document) { d.Currency = "STN" },
		"BR-06":    func(d *Document) { d.Seller.Name = " " },
		"BR-07":    func(d *Document) { d.Buyer.Name = "" },
		"BR-09":    func(d *Document) { d.Seller.Country = "UK" },
		"BR-11":    func(d *Document) { d.Buyer.Country = "" },
		"BR-16":    func(d *Document) { d.Lines, d.Subtotal, d.Total, d.Tax = nil, decimal.Zero, decimal.Zero, decimal.Zero },
		"BR-25":    func(d *Document) { d.Lines[0].Text = "" },
		"BR-27": func(d *Document) {
			d.Lines = append(d.Lines, d.Lines[0])
			d.Lines[0].Net, d.Lines[1].Net = amountOf("-1"), amountOf("11")
		},
		"BR-55":    func(d *Document) { d.Kind, d.Paid = CreditNote, true },
		"BR-CO-10": func(d *Document) { d.Lines[0].Net = amountOf("9.99") },
		"BR-CO-15": func(d *Document) { d.Total = amountOf("12.11") },
		"BR-CO-17": func(d *Document) { d.Tax, d.Total = amountOf("3.10"), amountOf("13.10") },
		"BR-CO-26": func(d *Document) {
			d.Seller.TaxID, d.TaxRate, d.Tax, d.Total = "", decimal.Zero, decimal.Zero, amountOf("10")
		},
		"BR-S-02": func(d *Document) { d.Seller.TaxID, d.Seller.Register = "", "Madrid, T 1, F 2" },
		"BR-E-02": func(d *Document) {
			d.Seller.TaxID, d.Seller.Register, d.Seller.Exemption = "", "Madrid, T 1, F 2", "Exempt"
			d.TaxRate, d.Tax, d.Total = decimal.Zero, decimal.Zero, amountOf("10")
		},
		"BR-E-09": func(d *Document) {
			d.Seller.Exemption, d.TaxRate, d.Tax, d.Total = "Exempt", decimal.Zero, amountOf("0.30"), amountOf("10.30")
		},
		"BR-AF-02": func(d *Document) {
			d.Seller.TaxID, d.Seller.Register, d.Seller.PostalCode = "", "Las Palmas, T 1", "35001"
		},
		"BR-AG-02": func(d *Document) { d.Seller.TaxID, d.Seller.Register, d.Seller.PostalCode = "", "Ceuta, T 1", "51001" },
		"BR-Z-09":  func(d *Document) { d.TaxRate, d.Tax, d.Total = decimal.Zero, amountOf("0.30"), amountOf("10.30") },
	} {
		d := sound()
		spoil(&d)
		if err := d.Check(); domain.CodeOf(err) != domain.Conflict || strings.Count(err.Error(), "BR-") != 1 ||
			!strings.Contains(err.Error(), " "+rule+": ") {
			t.Errorf("%s: %v", rule, err)
		}
		if _, err := XML(d); domain.CodeOf(err) != domain.Conflict {
			t.Errorf("%s: written all the same: %v", rule, err)
		}
	}
}

// reversedCharge is an open invoice under reverse charge that keeps all rules.
func reversedCharge() Document {
	d := sound()
	d.Treatment.TaxKind, d.Buyer.Country, d.Buyer.TaxID = tax.ReverseCharge, "FR", "FR12345678901"
	d.TaxRate, d.Tax, d.Total, d.Lines[0].Total = decimal.Zero, decimal.Zero, amountOf("10"), amountOf("10")
	return d
}

func TestReverseChargeHasItsOwnRules(t *testing.T) {
	if err := reversedCharge().Check(); err != nil {
		t.Fatal(err)
	}
	for rule, spoil := range map[string]func(*Document){
		"BR-AE-02": func(d *Document) { d.Buyer.TaxID = "" },
		"BR-AE-09": func(d *Document) { d.Tax, d.Total = amountOf("0.30"), amountOf("10.30") },
	} {
		d := reversedCharge()
		spoil(&d)
		if err := d.Check(); domain.CodeOf(err) != domain.Conflict || strings.Count(err.Error(), "BR-") != 1 ||
			!strings.Contains(err.Error(), " "+rule+": ") {
			t.Errorf("%s: %v", rule, err)
		}
	}
	sellerless := reversedCharge()
	sellerless.Seller.TaxID, sellerless.Seller.Register = "", "Madrid, T 1, F 2"
	if err := sellerless.Check(); err == nil || !strings.Contains(err.Error(), "EN 16931. BR-AE-02: ") {
		t.Error(err)
	}
	for rule, spoil := range map[string]func(*ubl){
		"BR-AE-05": func(u *ubl) { u.InvoiceLines[0].Category.Percent = "21" },
		"BR-AE-08": func(u *ubl) { u.Tax.Taxable = amount{"EUR", "9.99"} },
		"BR-AE-10": func(u *ubl) { u.Tax.Category.Exempt = "" },
	} {
		u := ublOf(reversedCharge())
		spoil(&u)
		if broken := brokenBy(u); len(broken) != 1 || !strings.HasPrefix(broken[0], rule+": ") {
			t.Errorf("%s: %v", rule, broken)
		}
	}
}

// outsideTheUnion is an open invoice to a business outside the union that keeps all rules.
func outsideTheUnion() Document {
	d := reversedCharge()
	d.Treatment, d.Buyer.Country, d.Buyer.TaxID = tax.Treatment{TaxKind: tax.Outside, TaxCountry: "GB"}, "GB", "XI123456789"
	return d
}

// What is not subject to VAT names neither VAT id, and says why.
func TestOutsideTheScopeOfVATNoVATIDIsNamed(t *testing.T) {
	u := ublOf(outsideTheUnion())
	if broken := brokenBy(u); len(broken) > 0 || u.Seller.Tax != nil || u.Buyer.Tax != nil || u.Seller.Legal.ID != "B12345678" ||
		u.Buyer.Legal.ID != "123456789" || !strings.Contains(u.Tax.Category.Reason, "2006/112") {
		t.Errorf("%v %+v", broken, u)
	}
	swiss := outsideTheUnion()
	swiss.Buyer.TaxID = "CHE-123.456.788"
	if id := ublOf(swiss).Buyer.Legal.ID; id != "CHE123456788" {
		t.Error(id)
	}
	for rule, spoil := range map[string]func(*ubl){
		"BR-O-02": func(u *ubl) { u.Buyer.Tax = &taxID{"FR12345678901", vat} },
		"BR-O-05": func(u *ubl) { u.InvoiceLines[0].Category.Percent = "0" },
		"BR-O-10": func(u *ubl) { u.Tax.Category.Reason = "" },
		"BR-Z-09": func(u *ubl) {
			u.Tax.Part, u.Tax.Amount = amount{"EUR", "0.30"}, amount{"EUR", "0.30"}
			u.Sums.Gross, u.Sums.Due = amount{"EUR", "10.30"}, amount{"EUR", "10.30"}
		},
	} {
		u := ublOf(outsideTheUnion())
		spoil(&u)
		if broken := brokenBy(u); len(broken) != 1 || !strings.HasPrefix(broken[0], rule+": ") {
			t.Errorf("%s: %v", rule, broken)
		}
	}
}

// The category follows from where the sale is taxed and why a rate is 0, and only those without
// tax have a reason, the same for people and for machines.
func TestEachSaleHasTheCategoryOfItsTax(t *testing.T) {
	for _, c := range []struct {
		kind               tax.Kind
		country, rate, set string // set changes the seller
		want, note         string
	}{
		{"", "", "21", "", "S", ""},
		{"", "", "0", "", "Z", ""},
		{"", "", "0", "exempt", "E", "Exempt: article 20"},
		{"", "", "21", "exempt", "S", ""},
		{"", "", "0", "no id", "O", "Not subject to VAT"},
		{"", "", "7", "islands", "L", "IGIC"},
		{"", "", "0", "islands", "L", "IGIC"},
		{tax.Standard, "ES", "21", "islands", "S", ""},
		{tax.Standard, "ES", "0", "", "Z", ""},
		{tax.OneStopShop, "FR", "20", "", "S", ""},
		{tax.ReverseCharge, "FR", "0", "exempt", "AE", "Reverse charge"},
		{tax.Outside, "US", "0", "", "O", "Not subject to VAT: the place of supply"},
		{tax.Outside, "ES-CN", "0", "", "O", "Not subject to VAT: the place of supply"},
		{tax.Foreign, "CH", "8.1", "", "S", ""},
		{tax.Foreign, "US", "0", "", "O", "Not subject to VAT: the place of supply"},
		{tax.Foreign, "ES-CN", "7", "", "L", "IGIC"},
		{tax.Foreign, "ES-CE", "10", "", "M", "IPSI"},
		{tax.Foreign, "ES-ML", "10", "", "M", "IPSI"},
	} {
		d := sound()
		d.Language, d.TaxRate, d.Treatment = "en", amountOf(c.rate), tax.Treatment{TaxKind: c.kind, TaxCountry: c.country}
		switch c.set {
		case "exempt":
			d.Seller.Exemption = "Exempt: article 20"
		case "no id":
			d.Seller.TaxID = ""
		case "islands":
			d.Seller.PostalCode = "35001"
		}
		got, u := categoryOf(d), ublOf(d)
		if got.ID != c.want || !strings.HasPrefix(d.TaxNote(), c.note) || (c.note == "") != (d.TaxNote() == "") {
			t.Errorf("%+v: %s, %q", c, got.ID, d.TaxNote())
		}
		if reason := u.Tax.Category.Reason; got.ID != igic && got.ID != ipsi && reason != d.TaxNote() || got.ID == igic && reason != "" {
			t.Errorf("%+v: %q", c, reason)
		}
	}
}

// Some values of the XML are never wrong today. Their rules guard against changes of it.
func TestRulesReadWhatTheXMLHolds(t *testing.T) {
	other := amount{"EUR", "1.23"}
	for rule, spoil := range map[string]func(*ubl){
		"BR-30": func(u *ubl) { u.InvoiceLines[0].Period.Last = "2026-11-20" },
		"BR-CO-13": func(u *ubl) {
			u.Sums.Net, u.Sums.Gross, u.Sums.Due, u.Tax.Taxable = amount{"EUR", "9"}, amount{"EUR", "11.10"},
				amount{"EUR", "11.10"}, amount{"EUR", "9"}
		},
		"BR-CO-14": func(u *ubl) { u.Tax.Part = amount{"EUR", "2.11"} },
		"BR-CO-16": func(u *ubl) { u.Sums.Prepaid = &other },
		"BR-CO-25": func(u *ubl) { u.DueDate = "" },
		"BR-S-08":  func(u *ubl) { u.Tax.Taxable = amount{"EUR", "9.99"} },
		"BR-E-10": func(u *ubl) {
			u.Tax.Category.ID, u.Tax.Amount, u.Tax.Part, u.Tax.Category.Percent = exempted, amount{"EUR", "0"}, amount{"EUR", "0"}, "0"
			u.Sums.Gross, u.Sums.Due = u.Sums.Net, u.Sums.Net
		},
		"BR-AF-10": func(u *ubl) { u.Tax.Category.Reason = "none" },
	} {
		u := ublOf(sound())
		spoil(&u)
		if broken := brokenBy(u); len(broken) != 1 || !strings.HasPrefix(broken[0], rule+": ") {
			t.Errorf("%s: %v", rule, broken)
		}
	}
}

// The published rules allow a tax that differs by less than one unit of the currency.
func TestATaxMayDifferByLessThanOneUnit(t *testing.T) {
	for tax, kept := range map[string]bool{"1.10": false, "1.11": true, "2.10": true, "3.09": true, "3.10": false} {
		d := sound()
		d.Tax, d.Total = amountOf(tax), d.Subtotal.Add(amountOf(tax))
		if err := d.Check(); (err == nil) != kept {
			t.Errorf("a tax of %s: %v", tax, err)
		}
	}
}

func TestIdentifiersOfVATAreToldFromOtherTaxIDs(t *testing.T) {
	for id, want := range map[string]taxID{
		"ESB12345678":     {"ESB12345678", vat},
		"es-b 1234.5678":  {"ESB12345678", vat},
		"EL123456789":     {"EL123456789", vat},
		"XI123456789":     {"XI123456789", vat},
		"B12345678":       {"B12345678", "TAX"},
		"ZZ123456789":     {"ZZ123456789", "TAX"},
		"UK123456789":     {"UK123456789", "TAX"},
		"12/345/67890":    {"12/345/67890", "TAX"},
		"CHE-123.456.788": {"CHE123456788", vat},
	} {
		if got := taxIDOf(id); *got != want {
			t.Errorf("%s: %v", id, *got)
		}
	}
}
