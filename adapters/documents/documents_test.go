package documents_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/shopspring/decimal"
	"golang.org/x/net/html"
	"golang.org/x/text/unicode/norm"

	"hostpanel/adapters/documents"
	"hostpanel/domain/billing"
	"hostpanel/domain/billing/document"
	"hostpanel/domain/buyer"
	"hostpanel/domain/tax"
)

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	year = billing.Line{Text: "Básico (yearly)", PeriodStart: noon, PeriodEnd: noon.AddDate(1, 0, 0), Total: amount("28.70")}
	paid = billing.InvoiceIssued{
		Name: "Γιώργος Παπαδόπουλος", Email: "g@example.com", Company: "ООО «Рога и копыта»",
		Details: buyer.Details{Address: "Gran Vía 2", City: "Bilbao", PostalCode: "48001", Country: "ES", TaxID: "ESB87654321"},
		Seller: billing.Seller{
			Name: "Hoster SL", Address: "Calle Mayor 1", City: "Madrid", PostalCode: "28001", Country: "ES",
			TaxID: "ESB12345678", Register: "Madrid, T 1, F 2", IBAN: "ES9121000418450200051332", BIC: "CAIXESBB",
		},
		Lines: []billing.Line{year, {Text: "Setup fee", Total: amount("10")}},
		Total: amount("38.70"), Subtotal: amount("31.98"), Tax: amount("6.72"), TaxRate: amount("21"),
		Currency: "EUR", Status: "paid", Ledger: "INV-2026", Sequence: 1, At: noon,
	}
	terms = document.Terms{
		Language: "es", Method: "Tarjeta", Order: "ORD-20261121-7F3K9Q",
	}
)

func amount(text string) decimal.Decimal { return decimal.RequireFromString(text) }

func creditNote() document.Document {
	return document.OfCreditNote(billing.CreditNoteIssued{
		Total: amount("10"), Subtotal: amount("8.26"), Tax: amount("1.74"), TaxRate: amount("21"),
		Currency: "EUR", Ledger: "CN-2026", Sequence: 3, At: noon.AddDate(0, 0, 9),
	}, document.OfInvoice(paid, terms), "Desistimiento del cliente")
}

func open() document.Document {
	e, english := paid, terms
	e.Status, english.Language, english.Method = "open", "en", ""
	return document.OfInvoice(e, english)
}

// prepaid is an invoice of which the balance has paid an amount at its issue.
func prepaid(part string) document.Document {
	e, english := paid, terms
	e.Status, e.Prepaid, english.Language, english.Method, english.Due = "open", amount(part), "en", "", noon.AddDate(0, 0, 14)
	return document.OfInvoice(e, english)
}

// reversed is a paid invoice under reverse charge.
func reversed() document.Document {
	e := paid
	e.TaxKind, e.TaxRate, e.Tax, e.Total, e.Lines = tax.ReverseCharge, decimal.Zero, decimal.Zero, e.Subtotal, []billing.Line{
		{Text: "Básico", Total: e.Subtotal},
	}
	e.Country, e.TaxID = "FR", "FR12345678901"
	return document.OfInvoice(e, terms)
}

// outside is a paid invoice to a buyer outside the union.
func outside() document.Document {
	d := reversed()
	d.Treatment, d.Buyer.Country, d.Buyer.TaxID, d.Language = tax.Treatment{TaxKind: tax.Outside, TaxCountry: "US"}, "US", "", "en"
	return d
}

func withdrawn() document.Document {
	d := open()
	d.Withdrawn, d.Reason = true, "It was withdrawn by credit note CN-2026-000003."
	return d
}

// Page and PDF say the same, in the language of the order. Amounts are written as there.
func TestAnInvoiceIsShownInTheLanguageOfItsOrder(t *testing.T) {
	for _, one := range []struct {
		document document.Document
		shown    string // in this order
		absent   string
	}{
		{
			document.OfInvoice(paid, terms),
			"Factura|INV-2026-000001|Fecha de emisión|21 nov 2026|ORD-20261121-7F3K9Q|Hoster SL|28001 Madrid, ES|NIF " +
				"/ NIF-IVA: ESB12345678|Registro: Madrid, T 1, F 2|" +
				"ООО «Рога и копыта»|Γιώργος Παπαδόπουλος|Gran Vía 2|48001 Bilbao, ES|g@example.com|Básico " +
				"(yearly)|Del 21 nov 2026 al 20 nov 2027|Setup fee|" +
				"Base imponible|31,98\u00a0€|Cuota del impuesto " +
				"(21\u00a0%)|6,72\u00a0€|Total|38,70\u00a0€|Pagado|Importe pendiente|0,00\u00a0€|Tarjeta",
			"ES9121000418450200051332",
		},
		{
			open(),
			"Invoice|21 Nov 2026|Seller|Tax ID: ESB12345678|Billed to|Total without tax|€31.98|Tax " +
				"(21%)|€6.72|Amount due|€38.70|Payable on receipt|ES9121000418450200051332|CAIXESBB",
			"Paid",
		},
		{
			prepaid("20"),
			"Invoice|Due date|5 Dec 2026|Total|€38.70|Paid from the credit balance|€20.00|Amount due|€18.70|ES9121000418450200051332",
			"Payable on receipt",
		},
		{
			prepaid("38.70"),
			"Invoice|Issue date|21 Nov 2026|Order|Total|€38.70|Paid from the credit balance|€38.70|Amount due|€0.00",
			"ES9121000418450200051332",
		},
		{
			creditNote(),
			"Factura rectificativa|CN-2026-000003|30 nov 2026|Factura rectificada|INV-2026-000001 del 21 nov " +
				"2026|abonados|Abono de la factura INV-2026-000001|8,26\u00a0€|10,00\u00a0€|Reembolsado|Desistimiento del cliente",
			"Importe pendiente",
		},
		{
			reversed(),
			"Factura|NIF / NIF-IVA: ESB12345678|48001 Bilbao, FR|NIF / NIF-IVA: FR12345678901|Base " +
				"imponible|31,98\u00a0€|Cuota del impuesto (0\u00a0%)|0,00\u00a0€|Total|31,98\u00a0€|Mención " +
				"fiscal|Inversión del sujeto pasivo|Tarjeta",
			"38,70",
		},
		{
			outside(),
			"Invoice|48001 Bilbao, US|Tax (0%)|€0.00|Total|€31.98|Tax note|Not subject to VAT: the place of supply is outside",
			"Reverse charge",
		},
		{
			withdrawn(),
			"Invoice|Total|€38.70|Credited|€38.70|Amount due|€0.00|Reason|by credit note CN-2026-000003",
			"ES9121000418450200051332",
		},
		{
			document.OfCreditNote(
				billing.CreditNoteIssued{
					Total: amount("38.70"), Subtotal: amount("31.98"), Tax: amount("6.72"), TaxRate: amount("21"),
					Currency: "EUR",
				},
				withdrawn(), "",
			),
			"Credit note|Total|€38.70|Set off against the invoice|€38.70",
			"Refunded",
		},
	} {
		pdf, err := documents.PDF(one.document)
		if err != nil {
			t.Fatal(err)
		}
		page, _ := read(t, one.document)
		for form, text := range map[string]string{"page": page, "PDF": strings.Join(printed(t, pdf), "\n")} {
			at := 0
			for part := range strings.SplitSeq(one.shown, "|") {
				found := strings.Index(text[at:], part)
				if found < 0 {
					t.Errorf("the %s of %s does not show %q, or not there:\n%s", form, one.document.Number, part, text)
					break
				}
				at += found + len(part)
			}
			if strings.Contains(text, one.absent) {
				t.Errorf("the %s of %s shows %q", form, one.document.Number, one.absent)
			}
		}
	}
}

// A page reads well without a look at it, and asks no other server for anything.
func TestThePageStandsAloneAndIsAccessible(t *testing.T) {
	e := paid
	e.Company = `<script src="//x.example">&`
	for _, d := range []document.Document{document.OfInvoice(e, terms), open(), creditNote()} {
		text, elements := read(t, d)
		if d.Buyer.Company == e.Company && !strings.Contains(text, e.Company) {
			t.Error("the name is not shown as it is")
		}
		count := map[string]int{}
		for _, n := range elements {
			count[n.Data]++
			for _, a := range n.Attr {
				if slices.Contains([]string{"src", "href", "style", "onclick"}, a.Key) {
					t.Errorf("<%s %s=%q>", n.Data, a.Key, a.Val)
				}
			}
			if n.Data == "html" && n.Attr[0].Val != d.Language || n.Data == "th" && n.Attr[0].Key != "scope" {
				t.Errorf("<%s> has %v", n.Data, n.Attr)
			}
		}
		if count["script"]+count["link"]+count["img"] > 0 || count["table"] != 2 || count["caption"] != 2 ||
			count["h1"] != 1 || count["main"] != 1 {
			t.Error(count)
		}
	}
}

// read gives the texts of a page and its elements.
func read(t *testing.T, d document.Document) (string, []*html.Node) {
	t.Helper()
	page, err := documents.HTML(d)
	if err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	var elements []*html.Node
	for n := range root.Descendants() {
		switch {
		case n.Type == html.ElementNode:
			elements = append(elements, n)
		case n.Type == html.TextNode && n.Parent.Data != "style":
			text.WriteString(n.Data + "\n")
		}
	}
	return text.String(), elements
}

// Equal documents give equal bytes, whenever and however often they are written.
func TestAPDFIsAlwaysTheSame(t *testing.T) {
	want, err := documents.PDF(creditNote())
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := documents.PDF(creditNote()); err != nil || !bytes.Equal(got, want) {
				t.Error("another PDF", err)
			}
		})
	}
	all.Wait()
	if !bytes.Contains(want, []byte("/CreationDate (D:20261130120000")) {
		t.Error("the PDF is not of the day of its issue")
	}
}

// A document of many lines breaks over pages. Each has the heads of the columns and a
// number, and no line is lost.
func TestALongInvoiceBreaksOverPages(t *testing.T) {
	e := paid
	for n := range 100 {
		l := year
		l.Text = fmt.Sprintf("Line %d has a text that is wider than its column, so that it wraps", n)
		e.Lines = append(e.Lines, l)
	}
	e.Lines[0].Text = strings.Repeat("endless ", 1000)
	pdf, err := documents.PDF(document.OfInvoice(e, terms))
	if err != nil {
		t.Fatal(err)
	}
	pages := printed(t, pdf)
	if len(pages) < 5 {
		t.Fatal(len(pages), "pages")
	}
	for i, text := range pages {
		if number := fmt.Sprintf("página %d de %d", i+1, len(pages)); !strings.Contains(text, number) ||
			i < len(pages)-1 && !strings.Contains(text, "Con impuestos") {
			t.Errorf("page %d:\n%s", i+1, text)
		}
	}
	all := strings.Join(pages, "\n")
	if strings.Count(all, "endless") != 1000 || strings.Count(all, "Line ") != 100 || strings.Count(all, "so that it wraps") == 100 {
		t.Error("lines are lost, or do not wrap")
	}
}

// What the fonts lack is marked, and an accent that stands alone joins its letter.
func TestLettersThatTheFontsLackAreMarked(t *testing.T) {
	e := paid
	e.Company = "株式会社 😀 Jose\u0301"
	pdf, err := documents.PDF(document.OfInvoice(e, terms))
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.ReplaceAll(printed(t, pdf)[0], "\n", ""); !strings.Contains(text, "株式会社 □ José") {
		t.Error(text)
	}
}

// A name of each script is printed with its own letters, those that run to the left from right to
// left, and Arabic ones in the forms in which they join.
func TestANameOfEachScriptIsPrinted(t *testing.T) {
	toTheRight := []string{
		"Nguyễn Thị Ánh Dương", "Đặng Hữu Phước", "Γιώργος Παπαδόπουλος", "Йоханна Łukasiewicz Şahin", "สมชาย ใจดี", "张伟", "陳小明",
		"山田太郎 さくら", "㈱ヤマダ ー", "김철수", "Ko 김 & 李 GmbH",
	}
	toTheLeft := []string{"דוד כהן", "محمد الأحمد", "پژمان گیلانی", "לאה בר־אילן", "لا إله"}
	for _, names := range [][]string{toTheRight, toTheLeft} {
		first := itemized(t, names)
		text := strings.ReplaceAll(printed(t, first)[0], "\n", "")
		if names[0] == toTheLeft[0] {
			turned := []rune(text)
			slices.Reverse(turned)
			text = norm.NFKC.String(string(turned))
		}
		for _, name := range names {
			if !strings.Contains(text, name) || strings.Contains(text, "□") {
				t.Errorf("%s is not in %q", name, text)
			}
		}
		if !bytes.Equal(itemized(t, names), first) || len(first) > 150_000 {
			t.Errorf("another PDF, or one with a whole font: %d bytes", len(first))
		}
	}
}

// itemized is a PDF whose lines have these texts.
func itemized(t *testing.T, texts []string) []byte {
	t.Helper()
	e := paid
	e.Lines = nil
	for _, text := range texts {
		e.Lines = append(e.Lines, billing.Line{Text: text, Total: amount("1")})
	}
	pdf, err := documents.PDF(document.OfInvoice(e, terms))
	if err != nil {
		t.Fatal(err)
	}
	return pdf
}

// A text in other scripts breaks at the width of its column, whatever it is made of.
func TestATextOfEachScriptBreaksIntoLines(t *testing.T) {
	texts := []string{"คำ", "株式会社", "שלום ", "Nguyễn ", "한국어 "}
	for i, text := range texts {
		texts[i] = strings.Repeat(text, 80)
	}
	all := strings.Join(printed(t, itemized(t, texts)), "\n")
	for line := range strings.SplitSeq(all, "\n") {
		if len([]rune(line)) > 100 {
			t.Errorf("%q stands on one line", line)
		}
	}
	for _, letter := range []string{"ค", "株", "ש", "ễ", "국"} {
		if n := strings.Count(all, letter); n != 80 {
			t.Errorf("%s: %d of 80", letter, n)
		}
	}
}

// An old invoice names neither its seller nor its buyer's address. It is shown all the same.
func TestADocumentWithGapsIsShown(t *testing.T) {
	e := paid
	e.Seller, e.Company, e.Details = billing.Seller{}, "", buyer.Details{}
	d := document.OfInvoice(e, document.Terms{})
	pdf, err := documents.PDF(d)
	if err != nil {
		t.Fatal(err)
	}
	page, _ := read(t, d)
	if text := printed(t, pdf)[0]; !strings.Contains(text, e.Name) || !strings.Contains(page, e.Name) {
		t.Error(text, page)
	}
}

var (
	streams = regexp.MustCompile(`(?s)stream\n(.*?)\nendstream`)
	shown   = regexp.MustCompile(`(?s)\(((?:\\.|[^\\)])*)\) ?Tj`)
	escapes = strings.NewReplacer(`\\`, `\`, `\(`, `(`, `\)`, `)`, `\r`, "\r")
)

// printed gives the texts of each page of a PDF, a line each. The fonts are encoded by
// UTF-16, so what is shown can be read without their tables.
func printed(t *testing.T, pdf []byte) (pages []string) {
	t.Helper()
	for _, stream := range streams.FindAllSubmatch(pdf, -1) {
		reader, err := zlib.NewReader(bytes.NewReader(stream[1]))
		if err != nil {
			continue
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		var page []string
		for _, text := range shown.FindAllSubmatch(content, -1) {
			page = append(page, decoded(escapes.Replace(string(text[1]))))
		}
		if page != nil {
			pages = append(pages, strings.Join(page, "\n"))
		}
	}
	return pages
}

func decoded(text string) string {
	var units []uint16
	for i := 0; i+1 < len(text); i += 2 {
		units = append(units, uint16(text[i])<<8|uint16(text[i+1]))
	}
	return string(utf16.Decode(units))
}
