package orders_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hostpanel/adapters/faults"
	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
	"hostpanel/paneltest"
	"hostpanel/projections"
)

func TestTheSameOrderSentTwiceIsPlacedOnce(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	first := s.Order(t, http.StatusCreated, paneltest.HostingOrder, "Idempotency-Key", "once")
	again := s.Order(t, http.StatusCreated, paneltest.HostingOrder, "Idempotency-Key", `"once"`)
	if first.Body.String() != again.Body.String() || first.Header().Get("Location") != again.Header().Get("Location") {
		t.Fatalf("first %s, then %s", first.Body, again.Body)
	}
	if first.Header().Get("Idempotent-Replayed") != "" || again.Header().Get("Idempotent-Replayed") != "true" {
		t.Fatal(first.Header(), again.Header())
	}
	if n := s.Events(t, "order.placed"); n != 1 {
		t.Fatalf("%d orders were placed", n)
	}
}

func TestAnIdempotencyKeyBelongsToOneRequestAndOneAPIKey(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	s.Order(t, http.StatusCreated, paneltest.HostingOrder, "Idempotency-Key", "once")
	other := s.Order(t, http.StatusUnprocessableEntity, strings.Replace(paneltest.HostingOrder, "Ana", "Eve", 1),
		"Idempotency-Key", "once")
	if paneltest.Read(t, other).Code != "idempotency_key_reused" {
		t.Fatal(other.Body)
	}
	s.Order(t, http.StatusBadRequest, paneltest.HostingOrder, "Idempotency-Key", "not visible")
	s.Order(t, http.StatusCreated, paneltest.HostingOrder, "Idempotency-Key", "once", "X-API-Key", s.Known["sister"])
	if n := s.Events(t, "order.placed"); n != 2 {
		t.Fatalf("%d orders were placed", n)
	}
}

func TestAnOrderWaitsForAProviderThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	if _, err := s.Provider.Faults().Order(t.Context(),
		faults.Fault{Call: faults.Create, Kind: "session", What: faults.ErrorBefore, Times: 4}); err != nil {
		t.Fatal(err)
	}
	waiting := s.Order(t, http.StatusServiceUnavailable, paneltest.HostingOrder, "Idempotency-Key", "patience")
	a := paneltest.Read(t, waiting)
	want := `{"detail":"The payment provider is temporarily unavailable.","code":"payment_provider_unavailable","order_id":"` + a.ID + `"}`
	if waiting.Body.String() != want || waiting.Header().Get("Retry-After") == "" {
		t.Fatalf("%s %v", waiting.Body, waiting.Header())
	}
	view := s.Call("GET", "/storefront/api/orders/"+a.ID+"/", "", "X-API-Key", s.Known["key"])
	if !strings.Contains(view.Body.String(), `"status":"pending"`) {
		t.Fatal(view.Body)
	}
	if again := paneltest.Read(t, s.Order(t, http.StatusServiceUnavailable, paneltest.HostingOrder, "Idempotency-Key",
		"patience")); again.ID != a.ID {
		t.Fatalf("first %s, then %s", a.ID, again.ID)
	}
	placed := s.Order(t, http.StatusCreated, paneltest.HostingOrder, "Idempotency-Key", "patience")
	if b := paneltest.Read(t, placed); b.ID != a.ID || b.URL == "" || b.Status != "payment_processing" {
		t.Fatal(placed.Body)
	}
	if !strings.HasSuffix(placed.Header().Get("Location"), a.ID+"/") {
		t.Fatal(placed.Header())
	}
	if again := s.Order(t, http.StatusCreated, paneltest.HostingOrder, "Idempotency-Key",
		"patience"); again.Body.String() != placed.Body.String() {
		t.Fatal(again.Body)
	}
	if n := s.Events(t, "order.placed"); n != 1 {
		t.Fatalf("%d orders were placed", n)
	}
}

func TestAnOrderWhoseAnswerWasLostInACrashIsAnsweredAnew(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	first := s.Order(t, http.StatusCreated, paneltest.HostingOrder, "Idempotency-Key", "lost")
	crash := func(seconds int) {
		if _, err := s.Owner.Exec(t.Context(),
			`update once_keys set body = null, running_until = now() + $1 * interval '1 second'`, seconds); err != nil {
			t.Fatal(err)
		}
	}
	crash(20)
	if w := s.Order(t, http.StatusConflict, paneltest.HostingOrder, "Idempotency-Key",
		"lost"); paneltest.Read(t, w).Code != "idempotency_in_progress" {
		t.Fatal(w.Body)
	}
	crash(-1)
	again := s.Order(t, http.StatusCreated, paneltest.HostingOrder, "Idempotency-Key", "lost")
	if again.Body.String() != first.Body.String() || again.Header().Get("Location") != first.Header().Get("Location") {
		t.Fatalf("first %s, then %s", first.Body, again.Body)
	}
	if n := s.Events(t, "order.placed") + s.Events(t, "order.payment_session_opened"); n != 2 {
		t.Fatalf("%d facts", n)
	}
}

func TestWhatIsRefusedLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	facts := s.Count(t, `select count(*) from events`)
	for _, body := range []string{
		`{`, `[]`, `{"plan_id":1}`, strings.Replace(paneltest.HostingOrder, "1", "4", 1),
		strings.Replace(paneltest.HostingOrder, `"test"`, `"stripe"`, 1),
		strings.Replace(paneltest.HostingOrder, "ana@example.com", "nobody", 1),
		strings.Replace(paneltest.HostingOrder, `"plan_id":1`, `"plan_id":1,"widget_id":"nosuchwidget0000"`, 1),
	} {
		s.Order(t, http.StatusBadRequest, body, "Idempotency-Key", "free")
	}
	s.Order(t, http.StatusRequestEntityTooLarge, `{"a":"`+strings.Repeat("x", 1<<20)+`"}`, "Idempotency-Key", "free")
	if n := s.Count(t, `select count(*) from events`); n != facts {
		t.Fatalf("%d facts were added", n-facts)
	}
	if n := s.Count(t, `select count(*) from once_keys`) + s.Count(t, `select count(*) from subjects`); n != 0 {
		t.Fatalf("%d rows were left", n)
	}
	s.Order(t, http.StatusCreated, paneltest.HostingOrder, "Idempotency-Key", "free")
}

func TestAnOrderKeepsWhatWasAgreed(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	a := paneltest.Read(t, s.Order(t, http.StatusCreated,
		`{"plan_id":2,"customer_email":" Ana@EXAMPLE.com","customer_name":" Ana ","customer_phone":"+34 600","customer_company":"Ana SL",
		"customer_address":" Gran Vía 2 ","customer_city":"Bilbao","customer_postal_code":48001,
		"customer_country":"es","customer_tax_id":" es b-87.654 321 ",
		"payment_method":"test","billing_period":"yearly","language":"en","widget_id":"allplansallplans",
		"price":"0.01","total":"0.01","tax_rate":0,"currency":"JPY"}`))
	o, err := s.For(projections.System).Orders().OrderByNumber(t.Context(), a.Number)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(o.CustomerName, "|", o.CustomerEmail, "|", o.CustomerPhone, "|", o.CustomerCompany, "|",
		o.AddressLine(), "|", o.CustomerTaxID, "|", o.Price, o.PeriodPrice, o.SetupFee, o.TaxRate, o.Total, o.Subtotal, o.Tax,
		o.Currency, o.Minor, o.PaymentMethod, o.Test, o.OSChoice, o.Language, o.WidgetID, o.APIKey, o.Owner, *o.Plan.VPS)
	want := "Ana|Ana@example.com|+34 600|Ana SL|Gran Vía 2, 48001 Bilbao, ES|ESB-87.654321|49.9 479.04 5 21 484.04 " +
		"400.03 84.01EUR 48404 test truedebian-12 en allplansallplans OpenKey1 7 {1 1024 20 1 debian-12 2 []}"
	if strings.Join(strings.Fields(got), "") != strings.Join(strings.Fields(want), "") {
		t.Fatalf("\n got %s\nwant %s", got, want)
	}
}

func TestNoSecretAndNoPersonalDataIsLoggedOrKeptInClearText(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	body := strings.Replace(paneltest.HostingOrder, "ana@example.com", "canary@example.com", 1)
	body = strings.Replace(body, "{", `{"customer_address":"canary","customer_city":"canary",`+
		`"customer_postal_code":"canary","customer_country":"ES","customer_tax_id":"canary",`, 1)
	s.Order(t, http.StatusCreated, body, "Idempotency-Key", "canary-idempotency")
	s.Order(t, http.StatusBadRequest, strings.Replace(paneltest.HostingOrder, "ana@example.com", "canary@", 1))
	s.Call("GET", "/storefront/api/plans/?secret=canary", "", "X-API-Key", s.Known["unknown"])
	for _, canary := range []string{
		"canary", "Canary", "CANARY", s.Known["key"], s.Known["unknown"],
		strings.Repeat("x", 32),
	} {
		if strings.Contains(s.Logged.String(), canary) {
			t.Errorf("%q is in the program's log", canary)
		}
		n := s.Count(t, `select (select count(*) from events where strpos(data::text || meta::text, $1) > 0)
			+ (select count(*) from once_keys where strpos(once_keys::text, $1) > 0)
			+ (select count(*) from rate_windows where strpos(rate_windows::text, $1) > 0)`, canary)
		if n != 0 {
			t.Errorf("%q stands in %d rows", canary, n)
		}
	}
}

func TestWhileTheDatabaseIsAwayCallersAreToldToComeBack(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	s.Call("GET", "/storefront/api/plans/", "", "X-API-Key", s.Known["key"])
	s.Pool().Close()
	s.Readers.Close()
	for _, path := range []string{"/storefront/api/plans/", "/storefront/api/orders/"} {
		w := s.Call("GET", path, "", "X-API-Key", s.Known["key"])
		if w.Code != http.StatusServiceUnavailable ||
			w.Body.String() != `{"detail":"The service is temporarily unavailable.","code":"unavailable"}` ||
			w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d %s %v", path, w.Code, w.Body, w.Header())
		}
	}
	if w := s.Call("GET", "/healthz", ""); w.Code != http.StatusOK {
		t.Error("the process lives, but does not say so")
	}
	w := httptest.NewRecorder() // its body is none of the usual errors
	s.Server.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	if want := `{"status":"unavailable","checks":{"database":"does ` +
		`not answer"}}`; w.Code != http.StatusServiceUnavailable || w.Body.String() != want {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// Plans and the button of an order form have texts by language, which orders keep.
func TestCustomersReadTheShopInTheirLanguage(t *testing.T) {
	t.Parallel()
	s := paneltest.Open(t).Stock(t)
	s.Do(t,
		storefront.ChangePlan{Plan: 1, Spec: field.Values{
			"name_es": []byte(`"Alojamiento S"`), "description_es": []byte(`"Para sitios pequeños"`),
		}, At: time.Now()},
		storefront.ChangeWidget{Widget: 1, Spec: field.Values{
			"cta_text_es": []byte(`"Pedir"`), "cta_text": []byte(`"Order"`),
		}, At: time.Now()})
	read := func(path string) string {
		w := s.Call("GET", "/storefront/api/"+path, "", "X-API-Key", s.Known["key"])
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return w.Body.String()
	}
	for path, want := range map[string]string{
		"plans/": `"name":"Hosting S"`, "plans/?language=es": `"name":"Alojamiento S"`, "plans/?language=en": `"name":"Hosting S"`,
		"widget/allplansallplans/?language=es": `"name":"Alojamiento S"`, "widget/allplansallplans/?language=en": `"cta_text":"Order"`,
		"widget/allplansallplans/?language=es-MX": `"cta_text":"Pedir"`,
	} {
		text := read(path)
		paneltest.Has(t, text, want)
		if strings.Contains(text, "name_es") || strings.Contains(text, "cta_text_es") {
			t.Errorf("%s shows what operators set", path)
		}
	}
	for language, want := range map[string]string{"es": "Alojamiento S", "en": "Hosting S"} {
		placed := s.Order(t, http.StatusCreated, strings.Replace(paneltest.HostingOrder, "{", `{"language":"`+language+`",`, 1))
		paneltest.Has(t, read("orders/"+paneltest.Read(t, placed).ID+"/"), `"plan_name":"`+want+`"`)
	}
}
