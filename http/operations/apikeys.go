package operations

import (
	"context"
	"crypto/rand"
	"net/http"
	"strconv"
	"strings"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
	"hostpanel/http/caller"
	"hostpanel/http/listing"
	"hostpanel/http/record"
	"hostpanel/http/route"
	"hostpanel/projections"
)

const (
	keysPath = operationsPrefix + "api-keys/"
	keyPath  = keysPath + "{id:[0-9A-Za-z]{8}}/"
)

// A keyRecord is a key of the storefront as operators see and change it.
type keyRecord struct{ projections.APIKey }

// Tag changes also when the key is used for the first time in an hour, which
// the record shows.
func (k *keyRecord) Tag() string {
	tag := record.Tag(storefront.KeyCategory, k.ID, k.Version)
	if k.LastUsedAt != nil {
		tag += "." + strconv.FormatInt(k.LastUsedAt.Unix()/int64(time.Hour/time.Second), 10)
	}
	return tag
}

// A keyForm is what operators say of a new key.
type keyForm struct {
	storefront.APIKey
	Mode  string
	Owner int64 // user
}

// Fields are the form of a new key.
func (k *keyForm) Fields() field.Set {
	set := k.APIKey.Fields()
	mode := field.Text("mode", &k.Mode).Among(string(storefront.Live), string(storefront.Test)).
		Doc("Whether it may take real money; test while test payments are on, else live.")
	return append(field.Set{set[0], mode}, append(set[1:], field.Ref("owner", &k.Owner).Doc("A superuser; the caller when absent."))...)
}

// An issuedKey is a new key, which is shown this once.
type issuedKey struct {
	keyRecord
	Key *string // nil: it was shown before
}

// Fields are the record and the key itself.
func (k *issuedKey) Fields() field.Set {
	return append(
		k.keyRecord.Fields(),
		field.NullText("key", &k.Key).OneTime().ReadOnly().Doc("The key. It is shown only here, and only once."),
	)
}

func (s *apiKeys) keyRoutes() []route.Route {
	return []route.Route{
		listing.Pages[keyRecord](keysPath, "Keys of the storefront", listing.Spec{
			Filters: func() field.Set {
				return field.Set{
					field.Text("mode", new(string)).Among(string(storefront.Live), string(storefront.Test)).Doc("Only keys of this mode."),
					field.Ref("owner", new(int64)).Doc("Only keys of this user."),
				}
			},
			Search: "name and id", Ordering: []string{"name"}, TextIDs: true,
		}, s.listKeys).As("api_key_list"),
		route.Get(keyPath, "A key of the storefront", record.Found[keyRecord]).As("api_key_read").Of("APIKey").Finding(s.findKey),
		route.Post(keysPath, "Make a key for a website", s.issueKey).As("api_key_create").For(
			s.callers.SuperuserConfirmed(),
		).Caching("no-store").
			Checking(route.Check(s.checkKeyForm)).Resuming(s.showIssuedKey).
			Saying("The key is in this answer and nowhere else: only its hash is kept. A repeat with the same Idempotency-Key shows null."),
		route.Patch(keyPath, "Change what is agreed on with a key's website", s.changeKey).As("api_key_change").Of("APIKey").For(
			s.callers.SuperuserConfirmed(),
		).Finding(s.findKey),
		route.Post(keyPath+"revoke/", "End a key for good", s.revokeKey).As("api_key_revoke").Of("APIKey").Finding(s.findKey).
			With(http.StatusOK).Saying(
			"It opens nothing from now on; other processes may take five seconds to notice. A second time changes nothing.",
		),
	}
}

func (s *apiKeys) listKeys(ctx context.Context, c route.Call, l projections.Listing) (projections.Listed[keyRecord], error) {
	keys, err := s.callers.Scope(c).Orders().APIKeys(ctx, l)
	return record.Map(keys, err, func(k projections.APIKey) keyRecord { return keyRecord{k} })
}

func (s *apiKeys) keyRecord(ctx context.Context, c route.Call, id string) (*keyRecord, error) {
	key, issued, err := s.callers.Scope(c).Orders().APIKey(ctx, id)
	if err == nil && !issued {
		err = route.Missing("APIKey")
	}
	return &keyRecord{key}, err
}

func (s *apiKeys) findKey(ctx context.Context, c route.Call) (any, string, error) {
	return record.Subject(s.keyRecord(ctx, c, c.Var("id")))
}

// checkKeyForm says who may own a key: the user who may see its orders.
func (s *apiKeys) checkKeyForm(ctx context.Context, c route.Call, k *keyForm, wrong *field.Errors) error {
	if !c.Sent.Has("owner") {
		k.Owner = caller.Of(c).ID
	}
	return record.MayRefer(wrong, "owner", &k.Owner, func(id int64) error {
		user, err := s.callers.Scope(c).Accounts().User(ctx, id)
		if err == nil && (!user.IsSuperuser || !user.IsActive) {
			err = route.Missing("User")
		}
		return err
	})
}

func (s *apiKeys) issueKey(ctx context.Context, c route.Call, k *keyForm) (*issuedKey, error) {
	mode := storefront.Mode(k.Mode)
	if mode == "" {
		mode = s.usualMode()
	}
	text := storefront.DrawKey(mode, rand.Read)
	key, _ := storefront.ParseKey(text)
	c.Location(keysPath + key.ID + "/")
	_, err := s.commands.Execute(ctx, c.Cause(), storefront.IssueKey{
		ID: key.ID, Mode: mode, Hash: storefront.HashKey(text), Spec: k.APIKey.Fields().Values(),
		CreatedBy: caller.Of(c).ID, Owner: k.Owner, At: s.callers.Now(),
	})
	if err != nil {
		return nil, err
	}
	record, err := record.Shown(c, func() (*keyRecord, error) { return s.keyRecord(ctx, c, key.ID) })
	return &issuedKey{*record, &text}, err
}

// usualMode is that of keys for which nothing else is asked.
func (s *apiKeys) usualMode() storefront.Mode {
	if s.testPayments {
		return storefront.Test
	}
	return storefront.Live
}

// showIssuedKey answers a repeat whose first answer was never given: the key is
// lost with it, because it is not kept.
func (s *apiKeys) showIssuedKey(ctx context.Context, c route.Call, location string) (route.Answer, error) {
	id := strings.TrimSuffix(location[strings.Index(location, keysPath)+len(keysPath):], "/")
	record, err := record.Shown(c, func() (*keyRecord, error) { return s.keyRecord(ctx, c, id) })
	if err != nil {
		return nil, err
	}
	return (&issuedKey{keyRecord: *record}).Fields(), nil
}

func (s *apiKeys) changeKey(ctx context.Context, c route.Call, k *keyRecord) (*keyRecord, error) {
	return s.commandKey(ctx, c, k, storefront.ChangeKey{ID: k.ID, Spec: c.Sent.Values(), At: s.callers.Now()})
}

func (s *apiKeys) revokeKey(ctx context.Context, c route.Call, _ *route.Nothing) (*keyRecord, error) {
	k := c.Subject.(*keyRecord) //nolint:forcetypeassert // found by findKey
	return s.commandKey(ctx, c, k, storefront.RevokeKey{ID: k.ID, At: s.callers.Now()})
}

// commandKey changes a key, for the next call that is made with it.
func (s *apiKeys) commandKey(ctx context.Context, c route.Call, k *keyRecord, command domain.Command) (*keyRecord, error) {
	err := record.Execute(ctx, s.commands, c, k.Version, command)
	s.callers.Keys.Forget(k.ID) // also after an error: who knows what has happened
	if err != nil {
		return nil, err
	}
	return record.Shown(c, func() (*keyRecord, error) { return s.keyRecord(ctx, c, k.ID) })
}
