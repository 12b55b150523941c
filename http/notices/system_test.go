//go:build system

package notices_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"hostpanel/domain"
	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/hosting"
	"hostpanel/domain/notice"
	"hostpanel/domain/order"
	"hostpanel/domain/webhook"
	"hostpanel/http/web"
	"hostpanel/paneltest"
)

// Mails that are no notifications lead to where a password is set, or to where customers
// begin; one about a payment that came to nothing, to the page of the order.
func TestEveryMailLeadsItsReaderOn(t *testing.T) {
	t.Parallel()
	s := paneltest.Office(t)
	s.Resident(t, 950, "reader@example.com", "en", false)
	b := s.Browser(t).Enter("reader@example.com")
	unpaid := paneltest.Read(t, s.Order(t, http.StatusCreated, paneltest.HostingOrder))
	for _, template := range notice.Templates() {
		sample, _ := notice.Sample(template, "en")
		if sample.Occasion == notice.News {
			continue
		}
		page := strings.Replace(strings.TrimPrefix(sample.Link, notice.SamplePanel), "token=sample", "token="+s.Link(t, 950),
			1)
		w := b.Get(page)
		if to := w.Header().Get("Location"); w.Code == http.StatusSeeOther &&
			to == "/panel/tenants/" { // for which tenant, is asked first
			w = b.Get(to)
		}
		if w.Code != http.StatusOK {
			t.Errorf("%s leads to %s: %d", template, page, w.Code)
		}
	}
	if w := b.Get(order.ReturnPage(uuid.MustParse(unpaid.ID)) + "?outcome=cancel"); w.Code != http.StatusOK {
		t.Errorf("the page of an order: %d %s", w.Code, w.Body)
	}
}

// Each notification to a customer leads to a page that its reader can open, and where a
// reader who has signed out arrives after the sign-in. Mails lead to the same page.
func TestEveryNoticeToCustomersLeadsToThePageOfWhatItIsAbout(t *testing.T) {
	t.Parallel()
	const reader, tenant = 950, 950
	s := paneltest.Office(t)
	s.Resident(t, reader, "reader@example.com", "en", false)
	s.Tenant(t, tenant, "Readers")
	s.Do(t, account.GrantMembership{User: reader, Tenant: tenant, Role: account.Admin, At: time.Now()})
	s.OneOfEach(t, tenant, tenant)
	s.Do(t, paneltest.Endpoint(tenant, tenant))
	want := map[string]string{} // by template
	last := func(page string) {
		t.Helper()
		all := mailed(t, s, reader)
		if len(all) == 0 {
			t.Fatal("there is no mail")
		}
		if m := all[len(all)-1]; m.URL != page {
			t.Errorf("%s leads to %s, not to %s", m.Template, m.URL, page)
		} else {
			want[m.Template] = page
		}
	}
	at := func(kind string) domain.Stream { return hosting.Ref{Kind: kind, ID: tenant}.Stream() }
	ends := time.Now().Add(9 * 24 * time.Hour)
	for _, kind := range hosting.Kinds {
		if !kind.HasPages() || kind.Owner || kind.Backend == hosting.Local {
			continue
		}
		happens(t, s, tenant, at(kind.Name), hosting.EngineRefused{Code: "name_taken"})
		last("/panel/" + kind.Collection + "/950/")
	}
	for _, e := range []domain.Event{
		hosting.CertificateIssued{Ends: ends},
		hosting.CertificateFailed{Code: "dns"},
		hosting.CertificateExpiring{Ends: ends},
	} {
		happens(t, s, tenant, at("ssl_certificate"), e)
		last("/panel/ssl-certificates/950/")
	}
	install := uuid.New()
	s.Do(t, hosting.QueueOperation{
		ID: install, Kind: hosting.InstallCMS, Tenant: tenant,
		About: hosting.Ref{Kind: "site", ID: tenant}, Install: &hosting.Installation{},
	})
	happens(t, s, tenant, hosting.OperationStream(install), hosting.OperationSucceeded{})
	last("/panel/sites/950/")
	happens(t, s, tenant, webhook.EndpointStream(tenant), webhook.EndpointDisabled{Reason: webhook.Gone})
	last("/panel/webhook-endpoints/950/")
	for _, status := range []string{hosting.Suspended, hosting.InService} {
		happens(t, s, tenant, at("tenant"), hosting.Changed{Spec: field.Values{"status": []byte(`"` + status + `"`)}})
		last("/panel/")
	}
	happens(t, s, 0, account.SecurityStream(reader), account.TokenReused{Family: uuid.New(), At: time.Now()})
	last("/account/")
	for _, e := range []domain.Event{
		account.SecondFactorEnabled{At: time.Now()},
		account.SecondFactorDisabled{At: time.Now()},
		account.RecoveryCodesRenewed{At: time.Now()},
	} {
		happens(t, s, 0, account.Stream(reader), e)
		last("/account/second-factor/")
	}
	for _, text := range []notice.Text{
		notice.OrderActive("hosting", "ORD-1", "S", "en"), notice.OrderActive("vps", "ORD-1", "S", "en"),
		notice.OrderActive("saas", "ORD-1", "S", "en"),
		notice.InvoiceCreated("ORD-1", "en"), notice.RefundDone("ORD-1", "en"), notice.MachineReady("ORD-1", "en"),
		notice.MachineFailed("ORD-1", "en"),
	} {
		s.Do(t, notice.Raise{ID: uuid.New(), User: reader, Text: text, InApp: true, Mail: true, At: time.Now()})
		last("/panel/") // orders and machines have no page there
	}

	invoice, _ := s.Billed(t, tenant)
	s.Machined(t, 990+tenant, tenant, invoice)
	for month, excess := range []string{"", hosting.TellTraffic, hosting.SlowTraffic, hosting.StopTraffic} {
		sold := hosting.Ref{Kind: "vm", ID: 990 + tenant}.Stream()
		used := hosting.TrafficReached{Month: fmt.Sprintf("2026-%02d", month+1), Percent: 100, LimitTB: 1, Excess: excess}
		happens(t, s, tenant, sold, used)
		last(web.ServicesPath + invoice.String() + "/")
	}
	bill := notice.Bill{Invoice: invoice, Number: "TEST-2026-000001", Plan: "S", Currency: "EUR", Day: ends}
	for _, template := range []string{
		notice.InvoiceDue, notice.InvoicePaid, notice.InvoiceWaived, notice.InvoicePartPaid,
		notice.PaymentReminder, notice.PaymentOverdue, notice.PlanSuspended, notice.ChangeDue, notice.InvoiceToCharge,
		notice.ChargeFailed, notice.ChargeConfirm, notice.ChargeEnded,
	} {
		s.Do(t, notice.Raise{
			ID: uuid.New(), User: reader, Text: bill.News(template, "en"), InApp: true, Mail: true,
			At: time.Now(),
		})
		last(web.InvoicesPath + invoice.String() + "/")
	}
	bill.Tenant = tenant
	s.Do(t, notice.Raise{
		ID: uuid.New(), User: reader, Text: bill.News(notice.PlanEnds, "en"), InApp: true, Mail: true,
		At: time.Now(),
	})
	last("/panel/tenants/950/export/")
	for _, template := range []string{
		notice.PlanCancelled, notice.PlanEnded, notice.ChangePlanned, notice.ChangeLapsed,
		notice.PlanChanged,
	} {
		s.Do(t, notice.Raise{
			ID: uuid.New(), User: reader, Text: notice.PlanNews(template, invoice, "S", ends, "en"),
			InApp: true, Mail: true, At: time.Now(),
		})
		last(web.ServicesPath + invoice.String() + "/")
	}
	s.Do(t, notice.Raise{
		ID: uuid.New(), User: reader, Text: notice.ChangeDropped(invoice, "S", "7 sites of 5", "en"),
		InApp: true, Mail: true, At: time.Now(),
	})
	last(web.ServicesPath + invoice.String() + "/")

	for _, template := range []string{
		notice.PaymentReceived, notice.PaymentReversed, notice.CreditReturned,
		notice.CreditPaidOut,
	} {
		s.Do(t, notice.Raise{
			ID: uuid.New(), User: reader,
			Text: notice.CreditNews(template, decimal.NewFromInt(5), decimal.NewFromInt(2), "EUR", "en"), InApp: true,
			Mail: true, At: time.Now(),
		})
		last(web.InvoicesPath)
	}

	s.Do(t, notice.Raise{
		ID: uuid.New(), User: reader, Text: notice.MethodNews("S", "visa …4242", "en"), InApp: true,
		Mail: true, At: time.Now(),
	})
	last(web.PaymentMethodsPath)
	s.Do(t, notice.Raise{
		ID: uuid.New(), User: reader, Text: notice.MethodAddedNews("visa …4242", "en"), InApp: true,
		Mail: true, At: time.Now(),
	})
	last(web.PaymentMethodsPath)

	b := s.Browser(t).Enter("reader@example.com")
	var shown string
	if err := s.Owner.QueryRow(t.Context(),
		`select string_agg(distinct url, ' ') from notifications where user_id = 950`).Scan(&shown); err != nil {
		t.Fatal(err)
	}
	for _, page := range strings.Fields(shown) {
		w := b.Get(page)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", page, w.Code)
		}
		if about := strings.TrimPrefix(page, "/panel/sites/"); about != page {
			paneltest.Has(t, w.Body.String(), "n950.example")
		}
		stranger := s.Browser(t)
		stranger.Get(stranger.Get(page).Header().Get("Location"))
		paneltest.Goes(t, stranger.Send("sign_in", "username", "reader@example.com", "password", paneltest.Password), page)
	}
	for _, template := range notice.Templates() {
		sample, _ := notice.Sample(template, "en")
		switch {
		case sample.Occasion != notice.News || sample.News.ToOperators():
		case want[template] == "" || !strings.Contains(shown, want[template]):
			t.Errorf("%s was not told", template)
		case b.Get(sample.News.URL).Code != http.StatusOK:
			t.Errorf("the sample of %s leads to %q", template, sample.News.URL)
		}
	}
}

// Users read what they were told and mark it as read, one or all at once. The bell on
// every page tells how many are left, and the stream that it follows answers.
func TestAUserReadsNotificationsInTheBrowser(t *testing.T) {
	s := paneltest.Open(t).People(t).Told(t)
	b := s.Visiting(t, paneltest.Ben)
	text := b.Get(web.NotificationsPath).Body.String()
	b.IsForEverybody(t, "en", text)
	if strings.Contains(text, "Ana's eyes") {
		t.Error("another user's notification is shown")
	}
	if third, first := strings.Index(text, "An invoice"), strings.Index(text, "Your order is active"); third < 0 ||
		first < third {
		t.Errorf("not newest first: %d, %d", third, first)
	}
	paneltest.Has(t, text, `<span class="count">3</span>`, `data-live="`+paneltest.NoticeStream+`"`)
	if unread(b) != "3" {
		t.Errorf("the bell shows %q", unread(b))
	}
	if w := b.Get(paneltest.Attribute(bell(b), "data-count")); w.Body.String() != `{"unread_count":3}` {
		t.Errorf("the bell asks: %d %s", w.Code, w.Body)
	}
	b.Get(web.NotificationsPath + "?is_read=false")
	paneltest.Goes(t, b.Send(s.Known["second"]), web.NotificationsPath+"?is_read=false")
	text = b.Get(web.NotificationsPath + "?is_read=false").Body.String()
	paneltest.Has(t, text, "It is marked as read.", `<span class="count">2</span>`)
	if strings.Contains(text, "It is there.") || unread(b) != "2" {
		t.Errorf("it is still unread; the bell shows %q", unread(b))
	}
	path, sent := b.Fill("notices_read")
	for range 2 {
		paneltest.Goes(t, b.Twin().Do("POST", path, sent.Encode()), path)
	}
	b.Get("/panel/")
	if unread(b) != "" {
		t.Errorf("the bell shows %q", unread(b))
	}
	paneltest.Has(t, b.Get(web.NotificationsPath+"?is_read=false").Body.String(), "There are none.")
	if n := s.Count(t, `select unread from inboxes where user_id = $1`, paneltest.Ana); n != 1 {
		t.Errorf("%d notifications of another user are unread", n)
	}
}

// Servers of mail providers unsubscribe without cookies and form tokens, with
// any headers.
func TestMailProvidersUnsubscribeWithOneClick(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t, paneltest.Guarded)
	for i, headers := range [][]string{
		{"Content-Type", "application/x-www-form-urlencoded"},
		{"Content-Type", "multipart/form-data; boundary=x"},
		{"Content-Type", "application/json"},
		{},
		{
			"Content-Type", "application/x-www-form-urlencoded", "Origin", "https://mail.example", "Sec-Fetch-Site",
			"cross-site", "Referer", "https://mail.example/",
		},
		{"Origin", "null"},
		{"Accept", "application/json"},
		{"Accept", "*/*", "User-Agent", ""},
		{"Authorization", "Bearer nonsense", "Cookie", "session=nonsense"},
	} {
		user := int64(i + 1)
		path := reader(t, s, user)
		for range 20 {
			if w := s.Call("POST", path, "--x\r\nContent-Disposition: form-data; "+
				"name=\"List-Unsubscribe\"\r\n\r\nOne-Click\r\n--x--", headers...); w.Code != http.StatusOK {
				t.Fatalf("%v: %d %s", headers, w.Code, w.Body)
			}
		}
		if mails(t, s, user).OnInvoice {
			t.Errorf("%v: still mailed", headers)
		}
	}
	if w := s.Call("POST", reader(t, s, 50), strings.Repeat("x", 65<<10)); w.Code != http.StatusRequestEntityTooLarge ||
		!mails(t, s, 50).OnInvoice {
		t.Errorf("a body without end: %d", w.Code)
	}
}
