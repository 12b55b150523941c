package notice_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"hostpanel/domain/notice"
)

var bread = notice.Brand{
	Name: "Bread & Co", LogoURL: "https://bread.example/logo.png", Color: "#FFCC00",
	FooterText: "Bread & Co, S.L.\r\nCalle Mayor 1\x00", FooterURL: "https://bread.example/",
}

func TestALetterLooksLikeItsTenant(t *testing.T) {
	m := welcome(t, func(l *notice.Letter) { l.Brand = bread })
	for _, part := range []string{
		`<img src="https://bread.example/logo.png" alt="Bread &amp; Co"`, `background:#FFCC00;color:#000000`,
		`border-bottom:3px solid #FFCC00`,
		"Bread &amp; Co, S.L.<br>\nCalle Mayor 1<br>", `<a href="https://bread.example/"`, "Un saludo<br>Bread &amp; Co",
	} {
		if !strings.Contains(m.HTML, part) {
			t.Errorf("%s is missing in\n%s", part, m.HTML)
		}
	}
	if !strings.HasSuffix(m.Text, "\nUn saludo\nBread & Co\n\n--\nBread & Co, S.L.\nCalle Mayor 1\nhttps://bread.example/\n") {
		t.Error(m.Text)
	}
	if m := welcome(t, func(l *notice.Letter) { l.Brand = notice.Brand{Name: "Bread"} }); strings.Contains(m.HTML, "<img") ||
		!strings.Contains(m.HTML, `<strong style="font-size:20px">Bread</strong>`) || strings.Contains(m.Text, "--") {
		t.Errorf("%s\n%s", m.HTML, m.Text)
	}
	if m := welcome(t, func(*notice.Letter) {}); strings.Contains(m.HTML, "<img") || !strings.Contains(
		m.HTML, "background:#4F46E5;color:#FFFFFF",
	) {
		t.Error(m.HTML)
	}
}

// Whatever color a tenant has chosen, what stands on it can be read
// (WCAG 2.1, 1.4.3).
func TestWhatABrandSaysCanBeReadOnItsColor(t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	chance := rand.New(rand.NewPCG(seed, 1))
	colors := []string{"#000000", "#FFFFFF", "#4F46E5", "#10B981", "#FFCC00", "#767676", "#777777", "#ff0000", "#00FF00", "#0000ff"}
	for range 2000 {
		colors = append(colors, "#"+hex.EncodeToString([]byte{byte(chance.Uint32()), byte(chance.Uint32()), byte(chance.Uint32())}))
	}
	for _, color := range colors {
		ink := notice.Brand{Color: color}.Ink()
		if got := contrast(t, color, ink); got < 4.5 {
			t.Errorf("%s on %s: %.2f", ink, color, got)
		}
	}
	if ink := (notice.Brand{Color: "#4F46E5"}).Ink(); ink != "#FFFFFF" {
		t.Error("the panel's own color bears white", ink)
	}
}

// contrast is the ratio that WCAG defines, worked out here anew.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	light := func(color string) float64 {
		rgb, err := hex.DecodeString(color[1:])
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			c := float64(rgb[i]) / 255
			if c <= 0.03928 {
				c /= 12.92
			} else {
				c = math.Pow((c+0.055)/1.055, 2.4)
			}
			sum += weight * c
		}
		return sum
	}
	one, other := light(a), light(b)
	return (max(one, other) + 0.05) / (min(one, other) + 0.05)
}

// A brand is typed by a tenant: it cannot break out of its place, and what is
// no color is none.
func TestABrandCannotBreakOut(t *testing.T) {
	m := welcome(t, func(l *notice.Letter) {
		l.Brand = notice.Brand{
			Name: "<script>\r\nBcc: all@example.com", LogoURL: "javascript:alert(1)", Color: "red;background:url(https://evil.example/)",
			FooterText: "<b>\u2028--", FooterURL: "javascript:alert(2)",
		}
	})
	if strings.Contains(m.HTML, "<script>") || strings.Contains(m.HTML, `="javascript`) ||
		strings.Contains(m.HTML, "url(") || strings.Contains(m.HTML, "<b>") ||
		strings.Contains(m.Text, "\nBcc:") {
		t.Errorf("%s\n%s", m.HTML, m.Text)
	}
}

var (
	fetched = regexp.MustCompile(`(?:src|background|poster|srcset)\s*=|url\(|@import|<link|<style|<script`)
	tags    = regexp.MustCompile(`(?s)<head>.*</head>|<[^>]*>`)
)

// Every letter that there is can be written in both languages, with nothing
// left to fill in, saying the same in both bodies, fetching nothing but a logo.
func TestEveryTemplateHasASampleThatCanBeWritten(t *testing.T) {
	names := notice.Templates()
	if len(names) < 20 || !strings.Contains(strings.Join(names, " "), "order_active ") || names[0] > names[1] {
		t.Fatal(names)
	}
	for _, name := range names {
		said := map[string]string{}
		for _, language := range []string{"es", "en"} {
			for _, brand := range []notice.Brand{{}, bread} {
				l, known := notice.Sample(name, language)
				l.From, l.Brand = "Panel <panel@example.com>", brand
				m, err := l.Write()
				if !known || err != nil {
					t.Fatal(name, known, err)
				}
				if strings.ContainsAny(m.Subject+m.Text, "{}") || m.Subject == "" || strings.Contains(m.Text, "\n\n\n") {
					t.Errorf("%s, %s: %s\n%s", name, language, m.Subject, m.Text)
				}
				if n := len(fetched.FindAllString(m.HTML, -1)); n != strings.Count(m.HTML, "<img src=") || n > 1 {
					t.Errorf("%s, %s fetches %d things:\n%s", name, language, n, m.HTML)
				}
				saysTheSame(t, m)
				said[m.Subject+m.Text[strings.Index(m.Text, "\n\n"):]] = language
			}
		}
		if len(said) != 4 {
			t.Errorf("%s: two of its letters are one: %v", name, said)
		}
	}
	if _, known := notice.Sample("love", "en"); known {
		t.Error("there is such a letter")
	}
}

// saysTheSame compares the words of both bodies, whatever stands around them.
func saysTheSame(t *testing.T, m notice.Mail) {
	t.Helper()
	page := strings.NewReplacer("&amp;", "&", "&#39;", "'", "&#34;", `"`, "&#43;", "+").Replace(
		tags.ReplaceAllString(m.HTML, " ") + hrefs(m.HTML),
	)
	for _, line := range strings.Split(m.Text, "\n") {
		line = strings.TrimSuffix(line, ":")
		if line == "--" {
			continue
		}
		for _, word := range strings.Fields(line) {
			if !strings.Contains(page, strings.TrimSuffix(word, ":")) {
				t.Errorf("%s: the page does not say %q of %q\n%s", m.Subject, word, line, m.HTML)
			}
		}
	}
}

var link = regexp.MustCompile(`href="([^"]*)"`)

func hrefs(page string) (all string) {
	for _, found := range link.FindAllStringSubmatch(page, -1) {
		all += " " + found[1]
	}
	return all
}

// News may be switched off by one click; letters about accounts never are.
func TestOnlyNewsCanBeUnsubscribedFrom(t *testing.T) {
	for _, name := range notice.Templates() {
		l, _ := notice.Sample(name, "en")
		m, err := l.Write()
		if err != nil {
			t.Fatal(err)
		}
		news := l.Occasion == notice.News
		if (m.Headers["List-Unsubscribe"] == "<"+l.Unsubscribe+">" &&
			m.Headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click") != news ||
			(m.Headers["List-Unsubscribe"] != "") != news || strings.Contains(m.Text, "/unsubscribe/") != news {
			t.Errorf("%s: %+v\n%s", name, m.Headers, m.Text)
		}
	}
}

func ExampleSample() {
	l, _ := notice.Sample("invoice_created", "en")
	m, err := l.Write()
	fmt.Println(m.Subject, err)
	fmt.Print(m.Text)
	// Output:
	// A new invoice <nil>
	// Hello Ana Ruiz,
	//
	// There is an invoice for your order ORD-20261121-7F3K9Q.
	//
	// Open in the panel:
	// https://panel.example/panel/
	//
	// You get this message because you want mails about invoices and payments.
	// I want no more of them:
	// https://panel.example/notifications/unsubscribe/sample/
	//
	// Kind regards
}

func ExampleCertificateExpiring() {
	for _, left := range []int{14, 1, 0} {
		fmt.Println(notice.CertificateExpiring("example.com", left, "en").Message)
		fmt.Println(notice.CertificateExpiring("example.com", left, "es").Message)
	}
	// Output:
	// The certificate for example.com expires in 14 days.
	// El certificado para example.com caduca en 14 días.
	// The certificate for example.com expires in 1 day.
	// El certificado para example.com caduca en 1 día.
	// The certificate for example.com expires in 1 day.
	// El certificado para example.com caduca en 1 día.
}
