package documents

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"codeberg.org/go-pdf/fpdf"

	"hostpanel/domain/billing/document"
	"hostpanel/domain/texts"
)

// PDF writes a document as pages of A4. Equal documents give equal bytes: the date in the
// file is that of the issue. Letters that the fonts lack become "□"; they hold Latin, Greek,
// Cyrillic, Hebrew, Arabic, Thai, Chinese, Japanese and Korean.
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

func newPaper(s sheet, issued time.Time) paper {
	p := paper{fpdf.New("P", "mm", "A4", ""), s}
	p.SetCatalogSort(true)
	p.SetCreationDate(issued.UTC())
	p.SetModificationDate(issued.UTC())
	p.in(faces[0], "B")
	p.in(faces[0], "")
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
	p.SetFont(faces[0].family, weight, size)
	p.SetTextColor(grey, grey, grey)
}

// in takes a font, which is read once for a document.
func (p paper) in(f *face, weight string) {
	ttf := f.regular
	if weight == "B" {
		ttf = f.bold
	}
	size, _ := p.GetFontSize()
	p.AddUTF8FontFromBytes(f.family, weight, ttf())
	p.SetFont(f.family, weight, size)
}

// write puts one line of text at the present height, from x on or up to x + width.
func (p paper) write(x, width float64, align, text string) {
	line := visual(printable(text))
	if align == "R" {
		x += width - p.wide(line)
	}
	weight := p.GetFontStyle()
	for _, part := range pieces(line) {
		p.in(part.face, weight)
		p.SetX(x)
		p.CellFormat(wide, lineHeight, part.text, "", 0, "L", false, 0, "")
		x += p.GetStringWidth(part.text)
	}
	p.in(faces[0], weight)
}

// wide is the width of a line in its fonts.
func (p paper) wide(line string) (sum float64) {
	weight := p.GetFontStyle()
	for _, part := range pieces(line) {
		p.in(part.face, weight)
		sum += p.GetStringWidth(part.text)
	}
	p.in(faces[0], weight)
	return sum
}

// lines breaks a text to a width.
func (p paper) lines(text string, width float64) []string {
	text = printable(text)
	if faces[0].hasAll(strings.ReplaceAll(text, "\n", "")) {
		return p.SplitText(text, width)
	}
	var all []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		all = append(all, p.broken(paragraph, width)...)
	}
	return all
}

// broken breaks a paragraph at blanks and between the letters of East Asia, and anywhere in a
// word that is wider than a line.
func (p paper) broken(paragraph string, width float64) (lines []string) {
	line := ""
	for _, part := range parts(paragraph) {
		for _, piece := range p.fitting(part, width) {
			if line != "" && p.wide(strings.TrimRight(line+piece, " ")) > width {
				lines, line = append(lines, strings.TrimRight(line, " ")), ""
			}
			line += piece
		}
	}
	return append(lines, strings.TrimRight(line, " "))
}

// parts are what stays on one line, if it can.
func parts(text string) (all []string) {
	last := 0
	for at, r := range text {
		after := at + utf8.RuneLen(r)
		if r == ' ' || r >= faces[len(faces)-1].first && r < 0xFB00 {
			all, last = append(all, text[last:after]), after
		}
	}
	return append(all, text[last:])
}

// fitting is a part as it is, or its letters if it is wider than a line.
func (p paper) fitting(part string, width float64) []string {
	if p.wide(part) <= width {
		return []string{part}
	}
	return strings.Split(part, "")
}

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
		beside = max(beside, p.wide(printable(one.Label))+6)
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
