package documents

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"

	"hostpanel/domain/billing/document"
	"hostpanel/domain/texts"
)

// PDF writes a document as pages of A4. Equal documents give equal bytes: the date in the
// file is that of the issue. Letters that the fonts lack become "□"; they hold Latin, Greek
// and Cyrillic.
func PDF(d document.Document) ([]byte, error) {
	p := newPaper(sheetOf(d), d.Issued)
	p.head()
	p.parties()
	p.items()
	p.sums()
	p.notes()
	p.numberPages()
	var out bytes.Buffer
	if err := p.Output(&out); err != nil {
		return nil, fmt.Errorf("write document %s as a PDF: %w", d.Number, err)
	}
	return out.Bytes(), nil
}

// Measures in millimetres: A4 with the margins, and the columns of the table.
const (
	left, right = 20.0, 190.0
	top, bottom = 20.0, 272.0 // below it stands the number of the page
	wide        = right - left
	lineHeight  = 5.0

	quantityWide = 20.0
	amountWide   = 34.0
	itemWide     = wide - quantityWide - 2*amountWide
	sumsWide     = 88.0
)

// A paper is a sheet on pages. It breaks pages itself, so that tables repeat their heads.
type paper struct {
	*fpdf.Fpdf
	sheet
}

const family = "go"

func newPaper(s sheet, issued time.Time) paper {
	p := paper{fpdf.New("P", "mm", "A4", ""), s}
	p.SetCatalogSort(true)
	p.SetCreationDate(issued.UTC())
	p.SetModificationDate(issued.UTC())
	p.AddUTF8FontFromBytes(family, "", goregular.TTF)
	p.AddUTF8FontFromBytes(family, "B", gobold.TTF)
	p.SetTitle(s.Title, true)
	p.SetAuthor(s.Seller.Name, true)
	p.SetLang(s.Language)
	p.SetAutoPageBreak(false, 0)
	p.SetMargins(left, top, left)
	p.SetCellMargin(0)
	p.AddPage()
	return p
}

// Styles of text: the weight and the size in points.
func (p paper) normal() { p.style("", 10, 22) }
func (p paper) strong() { p.style("B", 10, 22) }
func (p paper) muted()  { p.style("", 9, 85) }

// style sets a font and a shade of grey, 0 to 255.
func (p paper) style(weight string, size float64, grey int) {
	p.SetFont(family, weight, size)
	p.SetTextColor(grey, grey, grey)
}

// write puts one line of text at the present height, from x on or up to x + width.
func (p paper) write(x, width float64, align, text string) {
	p.SetX(x)
	p.CellFormat(width, lineHeight, printable(text), "", 0, align, false, 0, "")
}

// lines breaks a text to a width.
func (p paper) lines(text string, width float64) []string { return p.SplitText(printable(text), width) }

// down goes down by a height in millimetres.
func (p paper) down(height float64) { p.SetY(p.GetY() + height) }

// room begins another page unless the present one has room for a height. It tells whether
// it did.
func (p paper) room(height float64) bool {
	if p.GetY()+height <= bottom {
		return false
	}
	p.AddPage()
	p.SetY(top)
	return true
}

// Rules: the one below heads and above the total, and the one between rows.
func (p paper) rule(from float64) { p.line(from, 0.5, 22) }
func (p paper) thinRule()         { p.line(left, 0.2, 205) }

func (p paper) line(from, thick float64, grey int) {
	p.SetLineWidth(thick)
	p.SetDrawColor(grey, grey, grey)
	p.Line(from, p.GetY(), right, p.GetY())
}

func (p paper) head() {
	p.style("B", 20, 22)
	p.write(left, wide, "L", p.Heading)
	p.down(10)
	p.pairs(p.Data)
	p.down(6)
}

// pairs writes labels and, beside them, their texts.
func (p paper) pairs(all []pair) {
	beside := 0.0
	p.muted()
	for _, one := range all {
		beside = max(beside, p.GetStringWidth(printable(one.Label))+6)
	}
	for _, one := range all {
		p.normal()
		for i, text := range p.lines(one.Text, wide-beside) {
			p.room(lineHeight)
			if i == 0 {
				p.muted()
				p.write(left, beside, "L", one.Label)
				p.normal()
			}
			p.write(left+beside, wide-beside, "L", text)
			p.down(lineHeight)
		}
	}
}

// parties stand side by side.
func (p paper) parties() {
	const gap = 10.0
	width, height := (wide-gap)/2, p.GetY()
	p.party(p.Seller, left, width)
	ends := p.GetY()
	p.SetY(height)
	p.party(p.Buyer, left+width+gap, width)
	p.SetY(max(ends, p.GetY()) + 8)
}

func (p paper) party(who party, x, width float64) {
	p.muted()
	p.write(x, width, "L", who.Heading)
	p.down(lineHeight)
	p.strong()
	p.block(who.Name, x, width)
	p.normal()
	for _, text := range who.Lines {
		p.block(text, x, width)
	}
}

func (p paper) block(text string, x, width float64) {
	for _, line := range p.lines(text, width) {
		p.write(x, width, "L", line)
		p.down(lineHeight)
	}
}

func (p paper) items() {
	p.room(6 * lineHeight)
	p.strong()
	p.write(left, wide, "L", p.Items.Caption)
	p.down(lineHeight + 2)
	p.columns()
	for _, r := range p.Items.Rows {
		p.row(r)
	}
}

// columns writes the head of the table; each page has it.
func (p paper) columns() {
	p.muted()
	p.write(left, itemWide, "L", p.Items.Item)
	p.amounts(p.Items.Quantity, p.Items.Net, p.Items.Gross)
	p.down(lineHeight + 1)
	p.rule(left)
	p.down(1.5)
}

func (p paper) amounts(quantity, net, gross string) {
	p.write(left+itemWide, quantityWide, "R", quantity)
	p.write(left+itemWide+quantityWide, amountWide, "R", net)
	p.write(right-amountWide, amountWide, "R", gross)
}

// row writes a line of the document. One that is longer than a page goes on on the next.
func (p paper) row(r row) {
	p.normal()
	text := p.lines(r.Text, itemWide)
	p.muted()
	period := p.lines(r.Period, itemWide)
	p.rowRoom(min(float64(len(text)+len(period))*lineHeight+3, 20*lineHeight))
	p.normal()
	p.amounts(r.Quantity, r.Net, r.Gross)
	p.itemLines(text, p.normal)
	p.itemLines(period, p.muted)
	p.down(1.5)
	p.thinRule()
	p.down(1.5)
}

func (p paper) itemLines(lines []string, style func()) {
	for _, line := range lines {
		p.rowRoom(lineHeight)
		style()
		p.write(left, itemWide, "L", line)
		p.down(lineHeight)
	}
}

func (p paper) rowRoom(height float64) {
	if p.room(height) {
		p.columns()
	}
}

func (p paper) sums() {
	const pad = 1.5
	p.room(float64(len(p.Sums))*(lineHeight+pad) + 8)
	p.down(4)
	for _, s := range p.Sums {
		p.normal()
		if s.Main {
			p.rule(right - sumsWide)
			p.down(pad)
			p.style("B", 12, 22)
		}
		p.write(right-sumsWide, sumsWide-amountWide, "L", s.Label)
		p.write(right-amountWide, amountWide, "R", s.Text)
		p.down(lineHeight + pad)
	}
}

func (p paper) notes() {
	p.down(8)
	p.pairs(p.Notes)
}

// numberPages goes back to each page when their count is known.
func (p paper) numberPages() {
	pages := p.PageCount()
	for page := 1; page <= pages; page++ {
		p.SetPage(page)
		p.SetY(bottom + 8)
		p.muted()
		p.write(left, wide, "R", texts.Say(p.Language, "documents.page",
			"document", p.Title, "page", strconv.Itoa(page), "pages", strconv.Itoa(pages)))
	}
}
