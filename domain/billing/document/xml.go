package document

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"hostpanel/domain/billing"
	"hostpanel/domain/tax"
	"hostpanel/domain/texts"
)

// XML writes a document as UBL 2.1 in UTF-8, as EN 16931 asks for. A document that breaks
// a rule of the standard is refused with the error of [Document.Check].
func XML(d Document) ([]byte, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	text, err := xml.MarshalIndent(ublOf(d), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write document %s as UBL: %w", d.Number, err)
	}
	return append([]byte(xml.Header), append(text, '\n')...), nil
}

const namespaces = "urn:oasis:names:specification:ubl:schema:xsd:"

// ublOf writes a document in the terms of UBL.
func ublOf(d Document) ubl {
	money := func(n decimal.Decimal) amount { return amount{d.Currency, n.StringFixed(2)} }
	category := categoryOf(d)
	exempt := category
	exempt.Exempt, exempt.Reason = codes[category.ID], ""
	if slices.Contains(reasoned, category.ID) {
		exempt.Reason = d.TaxNote()
	}
	u := ubl{
		Aggregates: namespaces + "CommonAggregateComponents-2", Basics: namespaces + "CommonBasicComponents-2",
		CustomizationID: "urn:cen.eu:en16931:2017", ID: d.Number, IssueDate: date(d.Issued), Currency: d.Currency,
		Seller: sellerOf(d.Seller, category), Buyer: buyerOf(d.Buyer, category), Means: meansOf(d),
		Tax:  taxTotal{money(d.Tax), money(d.Subtotal), money(d.Tax), exempt},
		Sums: sums{Lines: money(d.Subtotal), Net: money(d.Subtotal), Gross: money(d.Total), Due: money(d.Rest())},
	}
	if d.Order != "" {
		u.Order = &orderID{d.Order}
	}
	if !d.Paid && d.Due.IsZero() {
		u.Terms = &terms{texts.Say(d.Language, "documents.at_once")}
	}
	if d.Paid || d.Rest().LessThan(d.Total) {
		prepaid := money(d.Total.Sub(d.Rest()))
		u.Sums.Prepaid = &prepaid
	}
	for i, l := range d.Lines {
		one := line{
			ID: strconv.Itoa(i + 1), Net: money(l.Net), Period: periodOf(l), Name: l.Text, Category: category,
			Price: money(l.Net.Mul(decimal.NewFromInt(int64(l.Quantity())))),
		}
		u.add(d.Kind, l.Quantity(), one)
	}
	u.name(d)
	return u
}

func (u *ubl) add(k Kind, count int, l line) {
	once := &quantity{"C62", count} // UN/ECE recommendation 20: one, of no unit
	if k == CreditNote {
		l.Credited = once
		u.CreditLines = append(u.CreditLines, l)
		return
	}
	l.Invoiced = once
	u.InvoiceLines = append(u.InvoiceLines, l)
}

// name writes what differs between invoices and credit notes. Its type codes are those of
// UNTDID 1001.
func (u *ubl) name(d Document) {
	if d.Kind == CreditNote {
		u.XMLName.Local, u.CreditNoteType = "CreditNote", "381"
		u.Note, u.Credited = d.Reason, &creditedID{d.Credited.Number, date(d.Credited.Issued)}
	} else {
		u.XMLName.Local, u.InvoiceType, u.DueDate = "Invoice", "380", date(d.Due)
		if d.Credit.IsPositive() {
			u.Note = texts.Say(d.Language, "documents.from_credit_note", "amount", texts.Exact(d.Language, d.Credit, d.Currency))
		}
	}
	u.Namespace = namespaces + u.XMLName.Local + "-2"
}

func date(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.DateOnly)
}

func periodOf(l Line) *period {
	first, last := l.Days()
	if first.IsZero() {
		return nil
	}
	return &period{date(first), date(last)}
}

// Categories of VAT (UNTDID 5305). K and G are of goods.
const (
	standard  = "S"
	zeroRated = "Z"
	exempted  = "E"
	outside   = "O"  // not subject to VAT
	reversed  = "AE" // the buyer owes the tax
	igic      = "L"  // of the Canary Islands
	ipsi      = "M"  // of Ceuta and Melilla
)

// reasoned are the categories that have to say why no tax is charged, codes their codes
// (VATEX). An exemption has none of its own.
var (
	reasoned = []string{outside, reversed, exempted}
	codes    = map[string]string{outside: "VATEX-EU-O", reversed: "VATEX-EU-AE"}
)

// categoryOf chooses the category of VAT. A rate of 0 is zero-rated only at home, by a seller
// who has a tax id and names no exemption. A seller without a tax id does not charge VAT, and
// category O is the one that needs no id.
func categoryOf(d Document) taxCategory {
	c := taxCategory{ID: standard, Percent: d.TaxRate.String(), Scheme: vat}
	island := d.Treatment.IslandTax(d.Seller.Country, d.Seller.PostalCode)
	switch kind := d.Treatment.TaxKind; {
	case kind == tax.ReverseCharge:
		c.ID = reversed
	case kind == tax.Outside, d.TaxRate.IsZero() && (kind == tax.Foreign || d.Seller.TaxID == "" && d.Seller.Exemption == ""):
		c.ID, c.Percent = outside, ""
	case d.TaxRate.IsZero() && d.Seller.Exemption != "":
		c.ID = exempted
	case island == "IGIC":
		c.ID = igic
	case island == "IPSI":
		c.ID = ipsi
	case d.TaxRate.IsZero():
		c.ID = zeroRated
	}
	return c
}

// TaxNote is why the tax is what it is, as people read it; blank: it needs no word.
func (d Document) TaxNote() string {
	switch note := d.Treatment.Note(d.TaxRate, d.Language); {
	case note != "":
		return note
	case categoryOf(d).ID == exempted:
		return d.Seller.Exemption
	case categoryOf(d).ID == outside:
		return texts.Say(d.Language, "documents.not_subject")
	}
	return d.Treatment.IslandTax(d.Seller.Country, d.Seller.PostalCode)
}

// sellerOf names the seller. What is not subject to VAT bears no VAT id; the number in it
// names the seller all the same.
func sellerOf(s billing.Seller, c taxCategory) party {
	p := party{
		Street: s.Address, City: s.City, PostalZone: s.PostalCode, Country: s.Country, Tax: taxIDOf(s.TaxID),
		Legal: legalEntity{s.Name, cmp.Or(s.TaxID, s.Register), s.Register},
	}
	if c.ID == outside && p.Tax != nil && p.Tax.Scheme == vat {
		p.Legal.ID, p.Tax = p.Tax.number(), nil
	}
	return p
}

// buyerOf names the company, and the person as its contact.
func buyerOf(b Buyer, c taxCategory) party {
	p := party{
		Street: b.Address, City: b.City, PostalZone: b.PostalCode, Country: b.Country,
		Legal: legalEntity{Name: cmp.Or(b.Company, b.Name), ID: b.TaxID},
	}
	if id := taxIDOf(b.TaxID); id != nil && id.Scheme == vat {
		if c.ID == outside {
			p.Legal.ID = id.number()
		} else {
			p.Tax = id
		}
	}
	if b.Name != "" || b.Email != "" {
		p.Contact = &contact{b.Name, b.Email}
	}
	return p
}

// number is a VAT identifier of the union, or of a country that was in it, without its country.
func (id taxID) number() string {
	country := id.ID[:2]
	if tax.IsMember(country) || slices.Contains([]string{greece, "GB", "XI"}, country) {
		return id.ID[2:]
	}
	return id.ID
}

const (
	vat    = "VAT"
	greece = "EL" // in identifiers; its country is GR
)

var (
	formOfVAT  = regexp.MustCompile(`^[A-Z]{2}[0-9A-Z]{2,13}$`)
	separators = strings.NewReplacer(" ", "", ".", "", "-", "")
)

// taxIDOf tells a VAT identifier, which begins with its country, from other tax ids.
func taxIDOf(id string) *taxID {
	plain := strings.ToUpper(separators.Replace(id))
	switch {
	case id == "":
		return nil
	case formOfVAT.MatchString(plain) && (isCountry(plain[:2]) || plain[:2] == greece):
		return &taxID{plain, vat}
	}
	return &taxID{id, "TAX"}
}

// meansOf tells how a paid document was paid, and where the money for an open one goes. Its
// codes are those of UNTDID 4461: 30 is a credit transfer, 1 is not defined further.
func meansOf(d Document) *means {
	switch {
	case !d.Paid && d.Seller.IBAN != "":
		m := &means{Code: meansCode{d.Method, "30"}, ID: d.Number, Account: &account{IBAN: strings.ReplaceAll(d.Seller.IBAN, " ", "")}}
		if d.Seller.BIC != "" {
			m.Account.Bank = &bankID{d.Seller.BIC}
		}
		return m
	case d.Method != "":
		return &means{Code: meansCode{d.Method, "1"}}
	}
	return nil
}
