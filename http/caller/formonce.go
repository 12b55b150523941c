package caller

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"hostpanel/domain"
	"hostpanel/http/route"
)

// FormOnce carries out a form with a hidden number, which is what an Idempotency-Key is to
// the API: however often it is sent, and by however many at once, it is carried out once.
// It tells whether another sending did it, and at which path of the API the record stands
// that was made. What was filled in otherwise meanwhile, on a page that a browser had kept,
// is refused.
func FormOnce(
	ctx context.Context, s *Callers, c route.Call, sent url.Values, do func(route.Call) error,
) (isRepeat bool, location string, err error) {
	number := sent.Get("number")
	if number == "" {
		return false, "", domain.RefuseField("number", "This field is required.")
	}
	key := &domain.IdempotencyKey{
		Principal: c.Caller.Principal, Method: c.Method, Path: c.Path, Key: number,
		Fingerprints: s.deps.Once.Fingerprints([]byte(c.Path), []byte(typed(sent).Encode())), Status: http.StatusOK, Keep: domain.KeepDay,
	}
	if isRepeat, location, err = formDone(ctx, s, *key); isRepeat || err != nil {
		return isRepeat, location, err
	}
	if err = do(c.Once(key)); err == nil {
		return false, "", nil
	}
	if isRepeat, location, look := formDone(ctx, s, *key); look == nil && isRepeat { // a twin was faster
		return true, location, nil
	}
	return false, "", err
}

// formDone tells whether a form with this key was carried out.
func formDone(ctx context.Context, s *Callers, key domain.IdempotencyKey) (done bool, location string, err error) {
	before, err := s.deps.Once.Look(ctx, key)
	if err == nil && before.State == domain.ReplayReused {
		err = errFilledInAnew
	}
	return err == nil && before.State != domain.ReplayFree, before.Location, err
}

var errFilledInAnew = domain.Refuse(
	domain.Conflict, "This form has been carried out, with something else in it. Open its page again, and send it from there.",
)

// typed is what was sent with a form, but for what tells browsers and their users apart.
func typed(sent url.Values) url.Values {
	all := maps.Clone(sent)
	for _, name := range []string{"form_token", FormBy, FormSecrets} {
		delete(all, name)
	}
	return all
}

// A form that is sent after the session has ended is kept until its user has signed in
// again (docs/security.md, "Browser sessions").

const (
	FormBy      = "form_by"      // the field of a form with [Callers.By]
	FormSecrets = "form_secrets" // the field with the names of those that are not kept

	keptParam = "kept"
	keptMost  = 16 << 10 // bytes
)

// A keptForm is what was sent, and to which path.
type keptForm struct {
	Path string
	Sent url.Values
}

// By names the user whom a page is shown to, for the forms of one browser.
func (s *Callers) By(v Visit) string {
	if !v.IsSignedIn() {
		return ""
	}
	user := strconv.FormatInt(v.Who.ID, 10)
	return user + "." + base64.RawURLEncoding.EncodeToString(s.deps.Once.Fingerprints([]byte("form of "+user), []byte(v.ID))[0])
}

// sentBy is the user to whom this browser was shown a form; 0: it was not.
func (s *Callers) sentBy(browser, by string) int64 {
	user, sent, _ := strings.Cut(by, ".")
	mac, err := base64.RawURLEncoding.DecodeString(sent)
	if err != nil {
		return 0
	}
	for _, right := range s.deps.Once.Fingerprints([]byte("form of "+user), []byte(browser)) {
		if hmac.Equal(mac, right) {
			id, _ := strconv.ParseInt(user, 10, 64)
			return id
		}
	}
	return 0
}

// keepForm keeps a form of ours that was shown to a user in this browser, and sent after
// the session. Fields that are secret are not kept.
func (s *Callers) keepForm(ctx context.Context, r route.Request) bool {
	cookie, err := r.Cookie(s.CookieName(SessionCookie))
	if err != nil || r.Method != http.MethodPost || r.ContentLength > keptMost || !s.isOwnPage(r) {
		return false
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, keptMost+1))
	if err != nil || len(body) > keptMost {
		return false
	}
	sent, err := url.ParseQuery(string(body))
	if err != nil || !s.IsToken(cookie.Value, sent.Get("form_token")) {
		return false
	}
	user := s.sentBy(cookie.Value, sent.Get(FormBy))
	if user == 0 {
		return false
	}
	kept := typed(sent)
	for name := range strings.SplitSeq(sent.Get(FormSecrets), ",") {
		kept.Del(name)
	}
	text, err := json.Marshal(keptForm{r.URL.Path, kept})
	if err == nil {
		err = s.deps.Sessions.KeepForm(ctx, user, text)
	}
	if err != nil {
		s.Log().WarnContext(ctx, "a form was not kept", "request_id", r.ID, "err", err.Error())
	}
	return err == nil
}

// keptForm is what the user has sent to this page before the sign-in; nil: nothing.
func (s *Callers) keptForm(ctx context.Context, r route.Request, user int64) (url.Values, error) {
	typed, err := s.deps.Sessions.KeptForm(ctx, user)
	if err != nil || typed == nil {
		return nil, err
	}
	var kept keptForm
	if err := json.Unmarshal(typed, &kept); err != nil || kept.Path != r.URL.Path {
		return nil, nil //nolint:nilerr // another page's
	}
	return kept.Sent, nil
}
