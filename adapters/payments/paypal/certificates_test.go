package paypal_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hostpanel/adapters/payments/paypal"
	"hostpanel/adapters/payments/paypal/paypaltest"
	"hostpanel/domain"
)

// F-9, P-5: a certificate's address is PayPal's own host and path, plainly
// written. No other is ever asked, even if a server listens there.
func TestACertificateOnAnyOtherHostIsNeverFetched(t *testing.T) {
	var asked atomic.Int64
	count := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	plain, secure := httptest.NewServer(count), httptest.NewTLSServer(count)
	defer plain.Close()
	defer secure.Close()
	w := newWorld(t)
	const path = paypaltest.CertificatePath + "CERT-test"
	for _, address := range []string{
		plain.URL + path, secure.URL + path,
		"http://" + paypaltest.CertificateHost + path,
		"https://api.paypal.com" + path, // the other world
		"https://api-m.sandbox.paypal.com" + path,
		"https://evil.example" + path,
		"https://" + paypaltest.CertificateHost + ".evil.example" + path,
		"https://evil-" + paypaltest.CertificateHost + path,
		"https://sub." + paypaltest.CertificateHost + path,
		"https://" + paypaltest.CertificateHost + "." + path,
		"https://API.SANDBOX.PAYPAL.COM" + path,
		"https://" + paypaltest.CertificateHost + ":443" + path,
		"https://" + paypaltest.CertificateHost + ":8443" + path,
		"https://user@" + paypaltest.CertificateHost + path,
		"https://" + paypaltest.CertificateHost + "@" + strings.TrimPrefix(secure.URL, "https://") + path,
		paypaltest.CertificateURL + "?x=1", paypaltest.CertificateURL + "?", paypaltest.CertificateURL + "#x",
		paypaltest.CertificateURL + "/", paypaltest.CertificateURL + "%2e",
		"https://" + paypaltest.CertificateHost + "/v1/notifications/certs/",
		"https://" + paypaltest.CertificateHost + "/v1/notifications/certs/../../x",
		"https://" + paypaltest.CertificateHost + "/v1/notifications/x/CERT-test",
		"https://" + paypaltest.CertificateHost + "//v1/notifications/certs/CERT-test",
		"//" + paypaltest.CertificateHost + path, path, "%zz",
	} {
		h := paypaltest.Sign([]byte(someNews), paypaltest.Transmission{Certificate: address})
		if _, err := w.Verify([]byte(someNews), h, time.Now()); domain.CodeOf(err) != domain.Invalid {
			t.Errorf("%s: %v", address, err)
		}
	}
	if n := asked.Load(); n != 0 || len(w.there.Dialled()) != 0 {
		t.Errorf("%d strangers were asked, %v dialled", n, w.there.Dialled())
	}
}

// F-9: what PayPal's own host serves is not believed blindly either.
func TestOnlyACertificateOfPayPalsIsBelieved(t *testing.T) {
	w := newWorld(t)
	key := paypaltest.NewKey()
	changed := func(change func(*certificate)) []byte {
		c := paypaltest.Leaf(paypaltest.Signer)
		change(c)
		return paypaltest.Issue(c, key)
	}
	day := 24 * time.Hour
	var elsewhere atomic.Int64
	decoy := httptest.NewServer(http.HandlerFunc(func(a http.ResponseWriter, _ *http.Request) {
		elsewhere.Add(1)
		_, _ = a.Write(paypaltest.Issue(paypaltest.Leaf(paypaltest.Signer), key))
	}))
	defer decoy.Close()
	text := func(pem []byte) http.HandlerFunc {
		return func(a http.ResponseWriter, _ *http.Request) { _, _ = a.Write(pem) }
	}
	at := time.Now()
	for name, serve := range map[string]http.HandlerFunc{
		"self-made":   text(paypaltest.SelfSigned(paypaltest.Leaf(paypaltest.Signer), key)),
		"expired":     text(changed(func(c *certificate) { c.NotAfter = at.Add(-time.Minute) })),
		"too-early":   text(changed(func(c *certificate) { c.NotBefore = at.Add(day) })),
		"other-name":  text(paypaltest.Issue(paypaltest.Leaf("www.paypal.com"), key)),
		"like-name":   text(paypaltest.Issue(paypaltest.Leaf("messageverificationcerts.paypal.com.evil.example"), key)),
		"suffix-name": text(paypaltest.Issue(paypaltest.Leaf("messageverificationcerts.notpaypal.com"), key)),
		"host-name":   text(paypaltest.Issue(paypaltest.Leaf(paypaltest.CertificateHost), key)),
		"ec-key":      text(paypaltest.Issue(paypaltest.Leaf(paypaltest.Signer), paypaltest.NewOtherKey())),
		"no-pem":      text([]byte("not a certificate")),
		"empty":       text(nil),
		"ten-MB":      func(a http.ResponseWriter, _ *http.Request) { _, _ = a.Write(make([]byte, 10<<20)) },
		"padded":      text(append([]byte(strings.Repeat("\n", 65<<10)), changed(func(*certificate) {})...)),
		"redirect":    func(a http.ResponseWriter, r *http.Request) { http.Redirect(a, r, decoy.URL, http.StatusFound) },
		"absent":      http.NotFound,
	} {
		at = at.Add(2 * time.Minute) // no more than six fetches a minute
		h := paypaltest.Sign([]byte(someNews), paypaltest.Transmission{Certificate: w.there.Serve(name, serve), Key: key})
		if _, err := w.Verify([]byte(someNews), h, at); domain.CodeOf(err) != domain.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	if elsewhere.Load() != 0 {
		t.Error("a redirect was followed")
	}
	h := paypaltest.Sign(
		[]byte(someNews),
		paypaltest.Transmission{Certificate: w.there.Serve("good", text(changed(func(*certificate) {}))), Key: key},
	)
	if _, err := w.Verify([]byte(someNews), h, at.Add(2*time.Minute)); err != nil {
		t.Errorf("a good one: %v", err)
	}
	for _, algorithm := range []string{"SHA1withRSA", "sha256withrsa", "SHA256withECDSA", "none"} {
		h := paypaltest.Sign([]byte(someNews), paypaltest.Transmission{Algorithm: algorithm})
		if _, err := w.Verify([]byte(someNews), h, at); domain.CodeOf(err) != domain.Invalid {
			t.Errorf("%s: %v", algorithm, err)
		}
	}
}

// I-5.
func TestWhileACertificateCannotBeFetchedPayPalIsAskedToComeBack(t *testing.T) {
	for _, f := range []paypaltest.Fault{
		{What: paypaltest.FailBefore}, {What: paypaltest.ResetBefore}, {What: paypaltest.Busy},
	} {
		w := newWorld(t)
		f.Call, f.Times = "certificate", 5 // a client may try a cut connection again
		w.there.Break(f)
		h := paypaltest.Sign([]byte(someNews), paypaltest.Transmission{})
		if _, err := w.Verify([]byte(someNews), h, time.Now()); domain.CodeOf(err) != domain.Unavailable {
			t.Errorf("%s: %v", f.What, err)
		}
		w.there.Repair()
		if _, err := w.Verify([]byte(someNews), h, time.Now()); err != nil {
			t.Errorf("after %s: %v", f.What, err)
		}
	}
	w := newWorld(t, func(c *paypal.Config) { c.Roots = nil }) // the server there is not PayPal's host
	_, err := w.Verify([]byte(someNews), paypaltest.Sign([]byte(someNews), paypaltest.Transmission{}), time.Now())
	if domain.CodeOf(err) != domain.Unavailable {
		t.Errorf("an impostor: %v", err)
	}
}

// P-5: one fetch for all who wait for it, and none until the certificate ends.
func TestACertificateIsFetchedOnceForAll(t *testing.T) {
	w := newWorld(t)
	w.there.Break(paypaltest.Fault{Call: "certificate", What: paypaltest.Slow, For: 300 * time.Millisecond})
	now := time.Now()
	verify := func(at time.Time) error {
		_, err := w.Verify([]byte(someNews), paypaltest.Sign([]byte(someNews), paypaltest.Transmission{}), at)
		return err
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if err := verify(now); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if err := verify(now.Add(300 * 24 * time.Hour)); err != nil {
		t.Error(err)
	}
	if n := w.there.Calls("certificate"); n != 1 {
		t.Errorf("%d fetches", n)
	}
	if err := verify(now.Add(400 * 24 * time.Hour)); domain.CodeOf(err) != domain.Invalid || w.there.Calls("certificate") != 2 {
		t.Errorf("after its end: %v, %d fetches", err, w.there.Calls("certificate"))
	}
}

// P-5: a sender of junk with ever other addresses costs six fetches a minute,
// and does not keep out whose certificate is known.
func TestSixCertificatesAMinuteAreFetched(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	verify := func(address string, at time.Time) domain.Code {
		_, err := w.Verify([]byte(someNews), paypaltest.Sign([]byte(someNews), paypaltest.Transmission{Certificate: address}), at)
		return domain.CodeOf(err)
	}
	if code := verify("", now); code != "" {
		t.Fatal(code)
	}
	for i := range 20 {
		want := domain.Invalid
		if i >= 5 {
			want = domain.Unavailable
		}
		if code := verify(fmt.Sprintf("%s-%d", paypaltest.CertificateURL, i), now); code != want {
			t.Errorf("junk %d: %s", i, code)
		}
	}
	if code := verify("", now); code != "" || w.there.Calls("certificate") != 6 {
		t.Errorf("what is known: %q after %d fetches", code, w.there.Calls("certificate"))
	}
	if code := verify(paypaltest.CertificateURL+"-x", now.Add(time.Minute)); code != domain.Invalid {
		t.Errorf("a minute later: %s", code)
	}
}

// P-5: sixteen are kept, the oldest goes first.
func TestSixteenCertificatesAreKept(t *testing.T) {
	w := newWorld(t)
	key := paypaltest.NewKey()
	pem := paypaltest.Issue(paypaltest.Leaf(paypaltest.Signer), key)
	at := time.Now()
	verify := func(i int) {
		at = at.Add(20 * time.Second)
		address := w.there.ServeText(fmt.Sprintf("CERT-%d", i), pem)
		if _, err := w.Verify(
			[]byte(someNews),
			paypaltest.Sign([]byte(someNews), paypaltest.Transmission{Certificate: address, Key: key}), at,
		); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 17 {
		verify(i)
	}
	for i := 1; i < 17; i++ {
		verify(i)
	}
	if n := w.there.Calls("certificate"); n != 17 {
		t.Errorf("%d fetches for 17 certificates", n)
	}
	if verify(0); w.there.Calls("certificate") != 18 {
		t.Error("more than sixteen are kept")
	}
}
