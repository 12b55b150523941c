package notice_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hostpanel/domain"
	"hostpanel/domain/domaintest"
	"hostpanel/domain/field"
	"hostpanel/domain/notice"
)

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	id   = uuid.MustParse("70717276-0000-4000-8000-000000000001")
	text = notice.OrderActive("hosting", "ORD-20261121-7F3K9Q", "Básico", "es").At("/") // as the golden files have it

	raise  = notice.Raise{ID: id, User: 12, Text: text, Metadata: map[string]string{"order_id": "6f1c"}, At: noon, InApp: true}
	raised = notice.Raised{
		User: 12, Type: notice.Success, Title: text.Title, Message: text.Message, URL: text.URL,
		Metadata: map[string]string{"order_id": "6f1c"}, At: noon,
	}
	read   = notice.Read{At: noon, User: 12}
	unread = notice.MarkedUnread{User: 12}
	asked  = notice.MailRequested{
		User: 12, Type: notice.Success, Template: "order_active", Language: "es", Title: text.Title,
		Message: text.Message, URL: text.URL, Tenant: 7, At: noon,
	}
	mailed  = notice.Mailed{At: noon, User: 12}
	givenUp = notice.MailGivenUp{Code: "switched_off", At: noon, User: 12}
	deleted = notice.Deleted{User: 12}
)

func given(
	t *testing.T, history ...notice.NotificationEvent,
) *domaintest.Story[notice.Notification, notice.NotificationCommand, notice.NotificationEvent] {
	return domaintest.Given(t, notice.Notifications, history)
}

func TestNoUserIsNotifiedTwice(t *testing.T) {
	given(t).When(raise).Then(raised)
	given(t, raised).When(raise).Then()
	given(t, raised, deleted).When(raise).Then()
}

// Each is told by the ways that they want, once: what they want later brings
// nothing of it again.
func TestOneIsToldInThePanelByMailOrBoth(t *testing.T) {
	told := func(inApp, mail bool) notice.Raise {
		c := raise
		c.InApp, c.Mail, c.Tenant = inApp, mail, 7
		return c
	}
	given(t).When(told(true, true)).Then(raised, asked)
	given(t).When(told(false, true)).Then(asked)
	given(t).When(told(false, false)).Then()
	for _, history := range [][]notice.NotificationEvent{
		{raised}, {asked}, {raised, asked}, {raised, asked, mailed, deleted}, {asked, givenUp},
	} {
		given(t, history...).When(told(true, true)).Then()
	}
}

// The mail is a thing of its own: the sender need not mind what becomes of the
// notification in the panel, and it comes to one end.
func TestAMailIsSentOrGivenUpOnce(t *testing.T) {
	confirm, giveUp := notice.ConfirmMail{ID: id, At: noon}, notice.GiveUpMail{ID: id, Code: "switched_off", At: noon}
	for _, history := range [][]notice.NotificationEvent{{asked}, {raised, asked}, {raised, asked, deleted}} {
		given(t, history...).When(confirm).Then(mailed)
		given(t, history...).When(giveUp).Then(givenUp)
		for _, over := range []notice.NotificationEvent{mailed, givenUp} {
			given(t, append(history[:len(history):len(history)], over)...).When(confirm).Then()
			given(t, append(history[:len(history):len(history)], over)...).When(giveUp).Then()
		}
	}
	given(t, raised).When(confirm).ThenRefused(domain.NotFound, "No mail of this notification was asked for.")
	given(t).When(giveUp).ThenRefused(domain.NotFound, "No mail of this notification was asked for.")
	for _, c := range []notice.NotificationCommand{notice.MarkRead{ID: id}, notice.Unread{ID: id}, notice.Delete{ID: id}} {
		given(t, asked).When(c).ThenRefused(domain.NotFound, "No Notification matches the given query.") // it is not in the panel
	}
	if asked.Text() != text {
		t.Error(asked.Text())
	}
}

func TestANotificationLeadsNowhereElse(t *testing.T) {
	for _, url := range []string{"", "https://evil.example/", "//evil.example/", "orders/"} {
		c := raise
		c.Text.URL = url
		given(t).When(c).ThenRefused(domain.Invalid, "url: Enter a path within the panel.")
	}
}

func TestANotificationIsReadUnreadAndDeleted(t *testing.T) {
	given(t, raised).When(notice.MarkRead{ID: id, At: noon}).Then(read)
	given(t, raised, read).When(notice.MarkRead{ID: id, At: noon.Add(time.Hour)}).Then() // read_at stays
	given(t, raised, read).When(notice.Unread{ID: id}).Then(unread)
	given(t, raised).When(notice.Unread{ID: id}).Then()
	given(t, raised).When(notice.Unread{ID: id, WithAll: true}).Then(unread)
	given(t, raised).When(notice.Delete{ID: id}).Then(deleted)
	for _, c := range []notice.NotificationCommand{notice.MarkRead{ID: id}, notice.Unread{ID: id}, notice.Delete{ID: id}} {
		given(t).When(c).ThenRefused(domain.NotFound, "No Notification matches the given query.")
		given(t, raised, deleted).When(c).ThenRefused(domain.NotFound, "No Notification matches the given query.")
	}
	if n := notice.Notifications.Replay(raised, read, unread); n.Read || n.User != 12 {
		t.Errorf("%+v", n)
	}
}

// However many they are, it is one event, and never one that says less than the last.
func TestAllIsReadAtOnce(t *testing.T) {
	all := notice.AllRead{Through: noon}
	given := func(history ...notice.AllRead) *domaintest.Story[notice.Inbox, notice.MarkAllRead, notice.AllRead] {
		return domaintest.Given(t, notice.Inboxes, history)
	}
	given().When(notice.MarkAllRead{User: 12, Through: noon}).Then(all)
	given(all).When(notice.MarkAllRead{User: 12, Through: noon}).Then()
	given(all).When(notice.MarkAllRead{User: 12, Through: noon.Add(-time.Second)}).Then()
	given(all).When(notice.MarkAllRead{User: 12, Through: noon.Add(time.Second)}).Then(notice.AllRead{Through: noon.Add(time.Second)})
	given().When(notice.MarkAllRead{User: 12}).Then() // no user was notified
	if stream := (notice.MarkAllRead{User: 12}).Stream().String(); stream != "inbox-12" {
		t.Error(stream)
	}
}

// A listener at an inbox receives every event of what is in it.
func TestEventsAreSentToTheInboxOfTheirUser(t *testing.T) {
	for _, e := range []notice.NotificationEvent{raised, read, unread, mailed, deleted} {
		if at := notice.Heard(raise.Stream(), e); at != notice.InboxOf(12) {
			t.Errorf("%s is heard in %s", e.EventName(), at)
		}
	}
	for in, e := range map[domain.Stream]domain.Event{
		notice.InboxOf(7): notice.AllRead{Through: noon}, {Category: "preferences", ID: "7"}: notice.PreferencesSet{},
	} {
		if at := notice.Heard(in, e); at != in {
			t.Errorf("%s is heard in %s", e.EventName(), at)
		}
	}
}

func ExamplePreferences() {
	preferences := notice.DefaultPreferences()
	shown, _ := json.MarshalIndent(preferences.Fields(), "", "  ")
	fmt.Println(string(shown))
	// Output:
	// {
	//   "email_on_ticket_reply": true,
	//   "email_on_invoice": true,
	//   "email_on_hosting_alert": true,
	//   "email_on_vps_alert": true,
	//   "email_on_system": true,
	//   "in_app_enabled": true
	// }
}

func values(text string) field.Values {
	v := field.Values{}
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		panic(err)
	}
	return v
}

func TestPreferencesKeepWhatChanged(t *testing.T) {
	off := notice.PreferencesSet{Values: values(`{"email_on_invoice":false}`)}
	whole := notice.SetPreferences{User: 12, Values: values(`{"email_on_invoice":false,"in_app_enabled":true}`)}
	domaintest.Given(t, notice.Preferring, nil).When(whole).Then(off)
	domaintest.Given(t, notice.Preferring, []notice.PreferencesSet{off}).When(whole).Then()
	domaintest.Given(t, notice.Preferring, nil).When(notice.SetPreferences{User: 12}).Then()
	if _, err := notice.Preferring.Decide(
		notice.PreferencesState{}, notice.SetPreferences{User: 12, Values: values(`{"horn":true}`)},
	); err == nil {
		t.Error("there is no such preference")
	}
	p := notice.Preferring.Replay(off).Preferences()
	if p.OnInvoice || !p.InApp || !p.OnSystem {
		t.Errorf("%+v", p)
	}
	if notice.Preferring.Replay().Preferences() != notice.DefaultPreferences() {
		t.Error("a user without preferences does not have the defaults")
	}
}

// Each type of notification has its preference.
func TestMailFollowsThePreferenceOfItsType(t *testing.T) {
	for preference, types := range map[string][]notice.Type{
		"email_on_ticket_reply":  {notice.Ticket},
		"email_on_invoice":       {notice.Billing},
		"email_on_hosting_alert": {notice.Hosting},
		"email_on_vps_alert":     {notice.VPS},
		"email_on_system":        {notice.System, notice.Info, notice.Success, notice.Warning, notice.Error},
	} {
		p := notice.Preferring.Replay(notice.PreferencesSet{Values: values(`{"` + preference + `":false}`)}).Preferences()
		for _, kind := range notice.Types {
			if p.Mails(kind) == slices.Contains(types, kind) {
				t.Errorf("%s without %s: mailed %v", kind, preference, p.Mails(kind))
			}
		}
	}
	if len(notice.Types) != 9 {
		t.Error(notice.Types)
	}
}

func ExampleOrderActive() {
	for _, kind := range []string{"hosting", "vps", "saas"} {
		for _, language := range []string{"es", "de"} {
			text := notice.OrderActive(kind, "ORD-20261121-7F3K9Q", "Uno", language)
			fmt.Println(text.Type, text.URL, text.Title+":", text.Message)
		}
	}
	// Output:
	// success /panel/ Su pedido está activo: Su plan de alojamiento Uno ya está listo para usar (pedido ORD-20261121-7F3K9Q).
	// success /panel/ Your order is active: Your hosting plan Uno is ready to use (order ORD-20261121-7F3K9Q).
	// success /panel/ Su pedido está activo: Su servidor virtual Uno ya está en marcha (pedido ORD-20261121-7F3K9Q).
	// success /panel/ Your order is active: Your virtual server Uno is running (order ORD-20261121-7F3K9Q).
	// success /panel/ Su pedido está activo: Su plan Uno ya está listo para usar (pedido ORD-20261121-7F3K9Q).
	// success /panel/ Your order is active: Your plan Uno is ready to use (order ORD-20261121-7F3K9Q).
}

func ExampleTokenReused() {
	for _, language := range []string{"es-MX", "fr"} {
		text := notice.TokenReused(language)
		fmt.Println(text.Type, text.URL, text.Title)
	}
	id := uuid.MustParse("7f3c9c1e-0000-4000-8000-000000000000")
	for _, text := range []notice.Text{
		notice.OrderParked(id, "ORD-1", "tenant.engine", "name_taken", "es"),
		notice.PaymentMismatch(id, "ORD-1", []string{"amount", "payee"}, "en"),
		notice.PaymentDisputed(id, "ORD-1", "2.99 EUR", "en"),
	} {
		fmt.Println(text.Type, text.URL)
		fmt.Println(strings.ReplaceAll(text.Message, ". ", ".\n"))
	}
	// Output:
	// warning /account/ Se ha cerrado una sesión
	// warning /account/ You have been signed out
	// error /storefront/orders/7f3c9c1e-0000-4000-8000-000000000000/
	// La puesta en marcha del pedido ORD-1 se ha interrumpido en tenant.engine: name taken.
	// `hostpanel orders show ORD-1` indica la orden con la que continúa.
	// warning /storefront/orders/7f3c9c1e-0000-4000-8000-000000000000/
	// A payment for order ORD-1 is not as ordered: it differs in amount, payee.
	// `hostpanel orders show ORD-1` names the commands that accept it or give it back.
	// warning /storefront/orders/7f3c9c1e-0000-4000-8000-000000000000/
	// The customer's bank claims back 2.99 EUR of order ORD-1.
	// Answer it at the provider.
}

// What is told leads into the panel, has no gaps left, and is said in two languages.
func TestAllNewsIsSaidInBothLanguages(t *testing.T) {
	expiring := func(_, domain, language string) notice.Text { return notice.CertificateExpiring(domain, 3, language) }
	ofOrder := []func(string, string) notice.Text{
		notice.InvoiceCreated, notice.RefundDone, notice.MachineReady, notice.MachineFailed, notice.Installed,
	}
	ofResource := []func(string, string, string) notice.Text{
		notice.CertificateIssued, notice.CertificateFailed, expiring, notice.EngineRefused,
	}
	ofTenant := []func(string) notice.Text{notice.TenantSuspended, notice.TenantReactivated}
	seen := map[string]bool{}
	for _, language := range []string{"es", "en"} {
		var all []notice.Text
		for _, text := range ofOrder {
			all = append(all, text("ORD-1", language))
		}
		for _, text := range ofResource {
			all = append(all, text("mailbox", "7", language), text("whitelabel", "7", language))
		}
		for _, text := range ofTenant {
			all = append(all, text(language))
		}
		for _, text := range all {
			if text.Title == "" || strings.Contains(text.Message, "{") || text.URL != "/panel/" {
				t.Errorf("%+v", text)
			}
			seen[text.Title] = true
		}
	}
	if len(seen) != 2*(len(ofOrder)+len(ofResource)+len(ofTenant)) {
		t.Error("two of them have one title", seen)
	}
	if text := notice.EngineRefused("buzón", "7", "es").Message; text != "El servidor de alojamiento ha rechazado un cambio: buzón 7." {
		t.Error(text)
	}
}

// What becomes of notifications is written with whose they are, and was once
// written without.
func TestEventsAreReadForever(t *testing.T) {
	for _, e := range []notice.NotificationEvent{read, unread, mailed, deleted} {
		if written, err := json.Marshal(e); err != nil || !strings.Contains(string(written), `"user":12`) {
			t.Errorf("%s is written as %s, %v", e.EventName(), written, err)
		}
	}
	domaintest.Golden(t, notice.EventTypes,
		raised, notice.Read{At: noon}, notice.MarkedUnread{}, asked, notice.Mailed{At: noon}, givenUp, notice.Deleted{},
		notice.AllRead{Through: noon}, notice.PreferencesSet{Values: values(`{"email_on_invoice":false}`)})
}

func TestStreamsAreNamedByNumber(t *testing.T) {
	if raise.Stream().String() != "notification-"+id.String() || (notice.SetPreferences{User: 12}).Stream().String() != "preferences-12" {
		t.Error(raise.Stream(), notice.SetPreferences{User: 12}.Stream())
	}
}
