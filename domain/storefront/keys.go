package storefront

import (
	"crypto/sha256"
	"fmt"
	"time"

	"hostpanel/domain"
	"hostpanel/domain/field"
)

// KeyCategory is that of the streams "api_key-<public id>".
const KeyCategory = "api_key"

// An APIKey is what is agreed on with the website that uses the key.
type APIKey struct {
	Name           string
	AllowedDomains []string // empty: all
	RateLimit      int64    // requests a minute
	ExpiresAt      *time.Time
}

func (k *APIKey) Fields() field.Set {
	return field.Set{
		field.Text("name", &k.Name).Required().Max(100),
		field.Texts("allowed_domains", &k.AllowedDomains, func(f field.Field) field.Field { return f.Is(field.Origin) }).
			Default([]string{}).Doc("Websites that may use the key; none listed: all."),
		field.Int("rate_limit_per_minute", &k.RateLimit).Between(1, 6000).Default(60).Headed("a minute"),
		field.NullTime("expires_at", &k.ExpiresAt).Default(nil),
	}
}

// A Key is what the history of an API key amounts to.
type Key struct {
	Issued    bool         `json:"issued"`
	Mode      Mode         `json:"mode"`
	Owner     int64        `json:"owner"`
	Spec      field.Values `json:"spec,omitempty"`
	RevokedAt time.Time    `json:"revoked_at,omitzero"`
}

// Keys is the behaviour of the streams "api_key-<public id>".
var Keys = domain.Decider[Key, KeyCommand, KeyEvent]{
	Decide: func(k Key, c KeyCommand) ([]KeyEvent, error) { return c.decide(k) },
	Evolve: func(k Key, e KeyEvent) Key { return e.evolve(k) },
}

type (
	// A KeyCommand asks for a change of an API key.
	KeyCommand interface {
		domain.Command
		decide(Key) ([]KeyEvent, error)
	}
	// A KeyEvent belongs to the stream of an API key.
	KeyEvent interface {
		domain.Event
		evolve(Key) Key
	}
)

type (
	// IssueKey makes a key valid. It stays with its maker: here only its public id
	// and its SHA-256 arrive.
	IssueKey struct {
		ID        string
		Mode      Mode
		Hash      [sha256.Size]byte
		Spec      field.Values // of [APIKey]
		CreatedBy int64
		Owner     int64
		At        time.Time
	}
	// ChangeKey changes the values of a key. One that was not issued is refused with
	// domain.NotFound.
	ChangeKey struct {
		ID   string
		Spec field.Values // only what changes
		At   time.Time
	}
	// RevokeKey ends a key for good. A second time changes nothing.
	RevokeKey struct {
		ID string
		At time.Time
	}
)

func (c IssueKey) decide(k Key) ([]KeyEvent, error) {
	switch {
	case k.Issued:
		return nil, domain.Refuse(domain.Conflict, "The key exists.")
	case !publicID.MatchString(c.ID) || c.Mode != Live && c.Mode != Test:
		return nil, fmt.Errorf("storefront: %q in mode %q is no API key", c.ID, c.Mode)
	}
	return []KeyEvent{APIKeyIssued{
		ID: c.ID, Mode: c.Mode, Hash: c.Hash[:], Spec: c.Spec, CreatedBy: c.CreatedBy, Owner: c.Owner, At: c.At,
	}}, nil
}

func (c ChangeKey) decide(k Key) ([]KeyEvent, error) {
	if !k.Issued {
		return nil, absent("APIKey")
	}
	changed := difference(k.Spec, merged(k.Spec, c.Spec))
	if len(changed) == 0 {
		return nil, nil
	}
	return []KeyEvent{APIKeyChanged{Spec: changed, At: c.At}}, nil
}

func (c RevokeKey) decide(k Key) ([]KeyEvent, error) {
	switch {
	case !k.Issued:
		return nil, absent("APIKey")
	case !k.RevokedAt.IsZero():
		return nil, nil
	}
	return []KeyEvent{APIKeyRevoked{At: c.At}}, nil
}

func keyStream(id string) domain.Stream { return domain.Stream{Category: KeyCategory, ID: id} }

func (c IssueKey) Stream() domain.Stream  { return keyStream(c.ID) }
func (c ChangeKey) Stream() domain.Stream { return keyStream(c.ID) }
func (c RevokeKey) Stream() domain.Stream { return keyStream(c.ID) }
