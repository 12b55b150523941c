package reference

import (
	"bytes"
	"cmp"
	_ "embed" // the page with its style and script
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"hostpanel/http/samplecode"
)

// Files of the page, which a server serves beside it.
var (
	//go:embed reference.css
	Style []byte
	//go:embed reference.js
	Script []byte
	//go:embed reference.html
	pageHTML string

	pageTemplate = template.Must(template.New("reference").Parse(pageHTML))
)

// Settings are what the page cannot know from the document.
type Settings struct {
	Server        string // the public address of the panel, without a slash at the end
	Document      string // path of the document
	Style, Script string // paths of the files
}

// What the page shows.
type (
	page struct {
		Settings
		Title, Version, License string
		Areas                   []area
		Webhooks                []webhookRow
		Records                 []record
	}
	area struct {
		Name, About, ID string
		Operations      []shown
	}
	shown struct {
		ID, Method, Path, Summary, About, Credentials string
		Parameters                                    []parameterRow
		Body                                          *content
		Answers                                       []answer
		Samples                                       []samplecode.Sample
	}
	parameterRow struct {
		fieldRow
		In, Value string
	}
	content struct {
		Kind, Record, Type string
		Fields             []fieldRow
		Example            string
	}
	answer struct {
		Status, When string
		Content      *content
	}
	record struct {
		Name   string
		Fields []fieldRow
	}
	webhookRow struct{ Name, About string }
)

// Page writes the page of an OpenAPI document.
func Page(document []byte, s Settings) ([]byte, error) {
	d, err := read(document)
	if err != nil {
		return nil, fmt.Errorf("read the document of the API: %w", err)
	}
	p := page{
		Settings: s, Title: d.Info.Title, Version: d.Info.Version, License: d.Info.License.Name,
		Areas: d.areas(s.Server), Records: d.records(),
	}
	for _, name := range slices.Sorted(maps.Keys(d.Webhooks)) {
		p.Webhooks = append(p.Webhooks, webhookRow{name, d.Webhooks[name]["post"].Summary})
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("write the reference of the API: %w", err)
	}
	return b.Bytes(), nil
}

// areas are the operations by area, and in it by path.
func (d *document) areas(server string) []area {
	byTag := map[string][]shown{}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range methods {
			if op := d.Paths[path][method]; op != nil && len(op.Tags) > 0 {
				byTag[op.Tags[0]] = append(byTag[op.Tags[0]], d.shown(server, path, method, op))
			}
		}
	}
	var all []area
	for _, t := range d.Tags {
		if len(byTag[t.Name]) > 0 {
			all = append(all, area{t.Name, t.Description, anchor(t.Name), byTag[t.Name]})
		}
	}
	return all
}

func anchor(name string) string {
	return "area-" + strings.ReplaceAll(strings.ToLower(name), " ", "-")
}

func (d *document) shown(server, path, method string, op *operation) shown {
	s := shown{
		ID: op.OperationID, Method: strings.ToUpper(method), Path: path, Summary: op.Summary, About: op.Description,
		Credentials: d.credentialsText(op), Samples: d.samplesOf(server, path, method, op),
	}
	for _, p := range op.Parameters {
		row := parameterRow{d.field(p.Name, p.Schema, p.Required), p.In, ""}
		row.About = cmp.Or(p.Description, row.About)
		if p.In == "path" {
			row.Value = valueOf(p)
		}
		s.Parameters = append(s.Parameters, row)
	}
	s.Body = d.content(op.RequestBody.Content, true)
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		a := answer{Status: status, When: op.Responses[status].Description}
		a.Content = d.content(op.Responses[status].Content, false)
		if a.Content != nil && status >= "400" && a.Content.Example == "" {
			a.Content = nil // the common form of refusals
		}
		s.Answers = append(s.Answers, a)
	}
	return s
}

// credentialsText says what a caller has to bring.
func (d *document) credentialsText(op *operation) string {
	var ways []string
	for _, all := range op.Security {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if text := wayIn[name]; text != "" && !slices.Contains(ways, text) {
				ways = append(ways, text)
			}
		}
	}
	return strings.Join(ways, ", or ")
}

// wayIn says how credentials are brought, by the name of their scheme.
var wayIn = map[string]string{
	"bearer": "Authorization: Bearer …", "apiKey": "X-API-Key", "session": "the session of a browser",
}

// content is what a body holds; nil: there is none. Fields of requests are listed at
// the operation, those of answers with their record.
func (d *document) content(all map[string]media, fields bool) *content {
	kind, m, known := first(all)
	if !known {
		return nil
	}
	c := &content{Kind: kind, Record: linked(m.Schema), Type: d.typeOf(m.Schema), Example: exampleText(m.Example)}
	if c.Record == "" || fields {
		c.Fields = d.fields(m.Schema)
	}
	return c
}

// exampleText is an example as people read it.
func exampleText(example json.RawMessage) string {
	var text string
	if json.Unmarshal(example, &text) == nil {
		return text // of a media type that is no JSON
	}
	var b bytes.Buffer
	if json.Indent(&b, example, "", "  ") != nil {
		return ""
	}
	return b.String()
}

// records are the schemas with fields, by name.
func (d *document) records() (all []record) {
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		all = append(all, record{name, d.fields(d.Components.Schemas[name])})
	}
	return all
}

// IsGood tells whether a status is that of success, for the style of the page.
func (a answer) IsGood() bool {
	status, err := strconv.Atoi(a.Status)
	return err == nil && status < http.StatusBadRequest
}
