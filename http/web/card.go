package web

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/http/caller"
	"hostpanel/http/route"
	"hostpanel/projections"
)

// A Card is a record in a list.
type Card struct {
	Path, Title string
	Badges      []Badge
	Value       string // at the end of the headline
	Lines       []string
	Fault       string // what went wrong; blank: nothing did
	Note        []Aspect
	Form        *Form
}

// A Badge is a state in a word.
type Badge struct{ Class, Text string }

// recordStates are how the states of records look.
var recordStates = map[string]string{
	"synced": "active", "issued": "active", "error": "failed", "failed": "failed", "revoked": "failed", "removing": "failed",
	"pending":         "provisioning",
	hosting.InService: "active", hosting.Suspended: "failed", hosting.Terminated: "failed",
}

// RecordState is how far the server is with a record, or the state of what it stands for.
func (w Words) RecordState(state string) Badge {
	return Badge{Class: recordStates[state], Text: w["state_"+state]}
}

// Cards say which fields of a record stand where on its card. Names that are joined by +
// share a line.
type Cards struct {
	Page         string // of one record, before its id; blank: none
	Title, Value string
	Badges       []string
	Lines, Note  field.Columns
	Fault        string
}

// Check panics if a set lacks a field of the cards, so that a mistake shows when the
// program starts.
func (k Cards) Check(set field.Set) {
	for _, name := range append([]string{k.Title, k.Value, k.Fault}, k.Badges...) {
		if name != "" {
			set.Cell(name)
		}
	}
	k.Lines.Check(set)
	k.Note.Check(set)
}

// Card is the card of a record.
func (w Words) Card(k Cards, set field.Set) Card {
	c := Card{Title: w.valueOf(set, k.Title), Value: w.valueOf(set, k.Value), Fault: w.valueOf(set, k.Fault)}
	if k.Page != "" {
		id, _ := set.Named("id")
		c.Path = k.Page + id.FormText() + "/"
	}
	for _, name := range k.Badges {
		cell := set.Cell(name)
		for value := range strings.FieldsSeq(cell.Text) {
			badge := Badge{value, cmp.Or(w[cell.Field.Words+value], value)}
			if cell.IsFault {
				badge.Class = "failed"
			}
			c.Badges = append(c.Badges, badge)
		}
	}
	for _, cells := range k.Lines.Cells(set) {
		var texts []string
		for _, cell := range cells {
			if text := w.Value(cell).Text; text != "" {
				texts = append(texts, text)
			}
		}
		if len(texts) > 0 {
			c.Lines = append(c.Lines, strings.Join(texts, " · "))
		}
	}
	for _, cells := range k.Note.Cells(set) {
		for _, cell := range cells {
			c.Note = append(c.Note, Told(w.Value(cell))...)
		}
	}
	return c
}

func (w Words) valueOf(set field.Set, name string) string {
	if name == "" {
		return ""
	}
	return w.Value(set.Cell(name)).Text
}

// Value is a value of a record in the reader's words, without its name.
func (w Words) Value(c field.Cell) Aspect {
	switch {
	case c.At != nil:
		return w.Moment("", c.At, "")
	case c.Amount != nil:
		return Aspect{Text: w.Money(*c.Amount, c.Currency)}
	case c.IsState && c.Text != "":
		return Aspect{Text: cmp.Or(w[c.Field.Words+c.Text], c.Text)}
	}
	return Aspect{Text: c.Text}
}

// Notes are texts without names, less the empty ones.
func Notes(all ...string) (notes []Aspect) {
	for _, text := range all {
		notes = append(notes, Told(Aspect{Text: text})...)
	}
	return notes
}

// Values are fields of a record with their labels, less the empty ones.
func (w Words) Values(set field.Set, names ...string) (facts []Aspect) {
	for _, name := range names {
		cell := set.Cell(name)
		one := w.Value(cell)
		one.Name = w[cell.Field.Key]
		facts = append(facts, Told(one)...)
	}
	return facts
}

// A List is the page of records in a browser. Its texts have the keys name_title, name_lead
// and name_none.
type List[A any] struct {
	Web     *Renderer
	Fields  func(*A) field.Set
	Name    string
	Choices []Choice
	Search  string // key of the text that names what is searched; blank: nothing
	Order   []projections.Ordering
	Read    func(context.Context, route.Call, projections.Listing) (projections.Listed[A], error)
	Cards   Cards
	Wide    bool                                    // the cards stand side by side
	More    func(c route.Call, of *A, card *Card)   // what no field has; nil: nothing
	Ways    func(c route.Call) []Aspect             // above the list; nil: none
	Before  func(context.Context, route.Call) error // looks whether there is a list at all; nil: there is
}

// ViewList is the page as a route.
func ViewList[A any](l List[A], path, summary string) route.Route {
	l.Cards.Check(l.Fields(new(A)))
	return View(path, summary, func(ctx context.Context, c route.Call) (*route.Document, error) {
		data, err := ListData(ctx, c, l)
		if err != nil {
			return nil, err
		}
		return l.Web.Sheet(c, http.StatusOK, "list", l.Name+"_title", data)
	})
}

// ListData is what the template of a list shows: what was asked for, and the cards.
func ListData[A any](ctx context.Context, c route.Call, l List[A]) (map[string]any, error) {
	if l.Before != nil {
		if err := l.Before(ctx, c); err != nil {
			return nil, err
		}
	}
	w := Texts[Readers(c)]
	asked, bar := Asked(c, w, l.Choices...)
	if asked.Order = l.Order; l.Search != "" {
		asked.Search = bar.Searched(c, w[l.Search])
	}
	found, err := l.Read(ctx, c, asked)
	if err != nil {
		return nil, err
	}
	shown := ListOf(w, l.Name, CardsOf(c, l, found.Rows))
	if err := l.nameTenants(ctx, c, found.Rows, shown.Cards); err != nil {
		return nil, err
	}
	shown.Wide = l.Wide
	if l.Ways != nil {
		shown.Ways = l.Ways(c)
	}
	return Paged(c, bar, found.Count, map[string]any{"List": shown}), nil
}

// nameTenants adds to each card whose record it is, where those of all tenants are shown.
func (l List[A]) nameTenants(ctx context.Context, c route.Call, records []A, cards []Card) error {
	if who := caller.Of(c); !who.IsSuperuser || who.Tenant() != 0 || !isOfTenant(c.Path) {
		return nil
	}
	owners := make([]int64, len(records))
	for i := range records {
		if f, has := l.Fields(&records[i]).Named("tenant"); has {
			owners[i], _ = strconv.ParseInt(f.FormText(), 10, 64) // none of one that has no tenant yet
		}
	}
	names, err := l.Web.Callers.Scope(c).Hosting().TenantNames(ctx, owners...)
	for i, tenant := range owners {
		whose := Aspect{Text: names[tenant], Path: CustomersPath + strconv.FormatInt(tenant, 10) + "/"}
		cards[i].Note = append(Told(whose), cards[i].Note...)
	}
	return err
}

// CardsOf are the cards of records.
func CardsOf[A any](c route.Call, l List[A], records []A) []Card {
	w, cards := Texts[Readers(c)], make([]Card, len(records))
	for i := range records {
		cards[i] = w.Card(l.Cards, l.Fields(&records[i]))
		if l.More != nil {
			l.More(c, &records[i], &cards[i])
		}
	}
	return cards
}

// ListOf is what the template of a list shows: cards, with the texts of the list's name.
func ListOf(w Words, name string, cards []Card) ListSheet {
	return ListSheet{
		Name: name, Heading: cmp.Or(w[name+"_list"], w[name+"_title"]), Lead: w[name+"_lead"], None: w[name+"_none"], Cards: cards,
		Wide: true,
	}
}

// A ListSheet is what a list shows.
type ListSheet struct {
	Name, Heading, Lead, None string
	Cards                     []Card
	Wide                      bool
	Ways                      []Aspect
}
