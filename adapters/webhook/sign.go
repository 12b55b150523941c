package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// The headers of Standard Webhooks (docs/webhooks.md, "Signatures").
const (
	idHeader        = "webhook-id"
	timeHeader      = "webhook-timestamp"
	panelHeader     = "hostpanel-installation" // not signed: two panels of one hoster may send to one endpoint
	signatureHeader = "webhook-signature"
)

// sign is the value of the signature header: one signature for each secret, so
// that a receiver may have either of two while they are being exchanged.
func sign(secrets [][]byte, id string, at time.Time, body []byte) string {
	all := make([]string, len(secrets))
	for i, secret := range secrets {
		h := hmac.New(sha256.New, secret)
		h.Write([]byte(id + "." + seconds(at) + "."))
		h.Write(body)
		all[i] = "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
	}
	return strings.Join(all, " ")
}

func seconds(at time.Time) string { return strconv.FormatInt(at.Unix(), 10) }
