package test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"hostpanel/adapters/payments"
	"hostpanel/domain/order"
)

// Header carries the signature of a webhook: "t=<unix>,v1=<hex>", where v1 is
// the HMAC-SHA256 of "<t>.<raw body>".
const Header = "X-Test-Signature"

// tolerance is how far a signature's time may be from ours, either way.
const tolerance = 300 * time.Second

// Sign returns the value of [Header] for a body sent at the given time.
func Sign(secret, raw []byte, at time.Time) string {
	t := at.Unix()
	return fmt.Sprintf("t=%d,v1=%x", t, digest(secret, t, raw))
}

func digest(secret []byte, t int64, raw []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	_, _ = fmt.Fprintf(mac, "%d.", t)
	_, _ = mac.Write(raw)
	return mac.Sum(nil)
}

// Verify checks a webhook's signature and reads its references. It changes
// nothing; [Provider.Apply] does. One header with exactly one time and at
// least one v1 is wanted; any v1 may match, under any active secret.
func (p *Provider) Verify(raw []byte, header map[string][]string, now time.Time) (order.News, error) {
	if len(p.Secret) == 0 {
		return order.News{}, payments.NotConfigured
	}
	at, sums, ok := signature(header)
	if !ok || now.Sub(time.Unix(at, 0)).Abs() > tolerance {
		return order.News{}, payments.InvalidSignature
	}
	for i, secret := range append([][]byte{p.Secret}, p.Former...) {
		if matches(digest(secret, at, raw), sums) {
			return news(raw, fmt.Sprintf("secret %d", i+1))
		}
	}
	return order.News{}, payments.InvalidSignature
}

// matches compares all of them, so that the time taken tells nothing.
func matches(want []byte, sums [][]byte) bool {
	found := false
	for _, sum := range sums {
		found = hmac.Equal(want, sum) || found
	}
	return found
}

func signature(header map[string][]string) (at int64, sums [][]byte, ok bool) {
	values := textproto.MIMEHeader(header).Values(Header)
	if len(values) != 1 {
		return 0, nil, false
	}
	times := 0
	for part := range strings.SplitSeq(values[0], ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "t":
			t, err := strconv.ParseUint(value, 10, 40)
			if err != nil {
				return 0, nil, false
			}
			at, times = int64(t), times+1
		case "v1":
			if sum, err := hex.DecodeString(value); err == nil {
				sums = append(sums, sum)
			}
		}
	}
	return at, sums, times == 1 && len(sums) > 0
}
