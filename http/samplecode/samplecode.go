// Package samplecode writes calls of the API as programs that run as they stand:
// for curl, JavaScript, Go and Python. The guide for websites and the reference
// of the API show them (docs/api.md, "Samples").
package samplecode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A Call is what a sample sends. The zero Body sends none.
type Call struct {
	Method, URL string
	Headers     []Header
	Body        []byte // JSON
}

// A Header is one of a call's headers.
type Header struct{ Name, Value string }

// A Language writes calls. Name is its name for programs, Title the one for people.
type Language struct {
	Name, Title string
	Write       func(Call) string
}

// Languages are all of them, in the order in which pages show them.
var Languages = []Language{{"curl", "curl", Curl}, {"javascript", "JavaScript", JavaScript}, {"go", "Go", Go}, {"python", "Python", Python}}

// A Sample is a call in one language.
type Sample struct{ Name, Title, Code string }

// Of writes a call in every language.
func Of(c Call) []Sample {
	all := make([]Sample, len(Languages))
	for i, l := range Languages {
		all[i] = Sample{l.Name, l.Title, l.Write(c)}
	}
	return all
}

// headers are those of the call, with the media type of its body.
func (c Call) headers() []Header {
	if c.Body == nil {
		return c.Headers
	}
	return append(c.Headers[:len(c.Headers):len(c.Headers)], Header{"Content-Type", "application/json"})
}

// indented is the body over several lines, of which all but the first begin with
// a prefix.
func (c Call) indented(prefix string) string {
	var b bytes.Buffer
	if err := json.Indent(&b, c.Body, prefix, "  "); err != nil {
		return string(c.Body) // it is shown as it is
	}
	return b.String()
}

// Curl writes a call for a POSIX shell.
func Curl(c Call) string {
	var b strings.Builder
	b.WriteString("curl --silent --show-error --fail-with-body")
	if c.Method != "GET" && (c.Method != "POST" || c.Body == nil) {
		b.WriteString(" --request " + c.Method)
	}
	b.WriteString(" " + shellText(c.URL))
	for _, h := range c.headers() {
		b.WriteString(" \\\n  --header " + shellText(h.Name+": "+h.Value))
	}
	if c.Body != nil {
		b.WriteString(" \\\n  --data " + shellText(c.indented("  ")))
	}
	return b.String() + "\n"
}

func shellText(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// JavaScript writes a call for pages, and for servers that have fetch and take
// modules.
func JavaScript(c Call) string {
	var b strings.Builder
	fmt.Fprintf(&b, "const answer = await fetch(%s, {\n  method: %s,\n", jsonText(c.URL), jsonText(c.Method))
	if all := c.headers(); len(all) > 0 {
		b.WriteString("  headers: {\n")
		for _, h := range all {
			fmt.Fprintf(&b, "    %s: %s,\n", jsonText(h.Name), jsonText(h.Value))
		}
		b.WriteString("  },\n")
	}
	if c.Body != nil {
		fmt.Fprintf(&b, "  body: JSON.stringify(%s),\n", c.indented("  "))
	}
	return b.String() + "});\nconsole.log(answer.status, await answer.text());\n"
}

func jsonText(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a text has a form in JSON
	return strings.TrimSuffix(b.String(), "\n")
}

const goHead = `package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
%s)

func main() {
`

const goTail = `	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.StatusCode, string(text))
}
`

// Go writes a call as a program of one file.
func Go(c Call) string {
	var b strings.Builder
	strs, body := "", "nil"
	if c.Body != nil {
		strs, body = "\t\"strings\"\n", "body"
	}
	fmt.Fprintf(&b, goHead, strs)
	if c.Body != nil {
		fmt.Fprintf(&b, "\tbody := strings.NewReader(%s)\n", goText(c.indented("\t")))
	}
	fmt.Fprintf(&b, "\trequest, err := http.NewRequest(%q, %q, %s)\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n", c.Method, c.URL, body)
	for _, h := range c.headers() {
		fmt.Fprintf(&b, "\trequest.Header.Set(%q, %q)\n", h.Name, h.Value)
	}
	return b.String() + goTail
}

func goText(text string) string {
	if strings.Contains(text, "`") {
		return strconv.Quote(text)
	}
	return "`" + text + "`"
}

// Python writes a call for Python 3, with its standard library alone.
func Python(c Call) string {
	var b strings.Builder
	b.WriteString("import urllib.request\n\n")
	fmt.Fprintf(&b, "request = urllib.request.Request(\n    %s,\n    method=%s,\n", jsonText(c.URL), jsonText(c.Method))
	if all := c.headers(); len(all) > 0 {
		b.WriteString("    headers={\n")
		for _, h := range all {
			fmt.Fprintf(&b, "        %s: %s,\n", jsonText(h.Name), jsonText(h.Value))
		}
		b.WriteString("    },\n")
	}
	if c.Body != nil {
		fmt.Fprintf(&b, "    data=r\"\"\"%s\"\"\".encode(),\n", c.indented("    "))
	}
	return b.String() + ")\nwith urllib.request.urlopen(request) as answer:\n    print(answer.status, answer.read().decode())\n"
}
