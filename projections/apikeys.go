package projections

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"hostpanel/domain/account"
	"hostpanel/domain/field"
	"hostpanel/domain/storefront"
	"hostpanel/eventstore"
)

// apiKeys is the keys with which websites may use the storefront. When one was
// last used is no event and stands beside.
var apiKeys = New("api_keys", `
	create table api_keys (
		id         text    primary key, -- public
		mode       text    not null,
		hash       bytea   not null, -- SHA-256 of the whole key
		spec       jsonb   not null,
		created_by bigint  not null,
		owner      bigint  not null,
		origins    text[]  not null default '{}', -- of the websites that it has come from
		revoked_at timestamptz,
		created_at timestamptz not null,
		updated_at timestamptz not null,
		version    int     not null -- of the key's stream
	);
	create index api_keys_newest on api_keys (created_at desc, id desc)`,

	On(func(at eventstore.RecordedEvent, e storefront.APIKeyIssued) Change {
		return insert("api_keys", Row{
			{"id", at.Stream.ID},
			{"mode", e.Mode},
			{"hash", e.Hash},
			{"spec", e.Spec},
			{"created_by", e.CreatedBy},
			{"owner", e.Owner},
			{"created_at", now},
			{"updated_at", now},
			{"version", at.Version},
		})
	}),
	On(func(at eventstore.RecordedEvent, e storefront.APIKeyChanged) Change {
		return update("api_keys", its(at), changed(at, Row{{"spec", merged(e.Spec)}}))
	}),
	On(func(at eventstore.RecordedEvent, _ storefront.APIKeyRevoked) Change {
		return update("api_keys", its(at), changed(at, Row{{"revoked_at", now}}))
	}),
	On(func(_ eventstore.RecordedEvent, e account.KeyUsedFromNewOrigin) Change {
		return update("api_keys", Row{{"id", e.Key}}, Row{{"origins", added(e.Origin)}}).provided(not(has(col("origins"), e.Origin)))
	}),
).ReadBy("api_keys", operators).Today().Beside(`
	create table if not exists api_key_uses (
		id           text primary key,
		last_used_at timestamptz not null -- to the hour
	);
	grant select, insert, update on api_key_uses to ` + eventstore.AppRole + `;
	` + strings.Join(wall("api_key_uses", operators), ";"))

// An APIKey lets a website use the storefront.
type APIKey struct {
	ID   string // public
	Mode storefront.Mode
	Hash []byte // SHA-256 of the whole key
	storefront.APIKey
	CreatedBy  int64
	Owner      int64
	Origins    []string // of the websites that it has come from
	RevokedAt  *time.Time
	LastUsedAt *time.Time // to the hour
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Version    int // of the key's stream
}

// Prefix is the part of the key that may be shown: "sfk_test_ab12CD34".
func (k *APIKey) Prefix() string { return storefront.Prefix(k.Mode, k.ID) }

// Fields are the key as operators see it.
func (k *APIKey) Fields() field.Set {
	prefix := k.Prefix()
	spec := k.APIKey.Fields()
	return slices.Concat(field.Set{field.Text("id", &k.ID).ReadOnly()}, spec.Only("name"), field.Set{
		field.Text("mode", (*string)(&k.Mode)).ReadOnly(),
		field.Text("prefix", &prefix).ReadOnly(),
	}, slices.DeleteFunc(spec, func(f field.Field) bool { return f.Name == "name" }), field.Set{
		field.NullTime("revoked_at", &k.RevokedAt).ReadOnly(),
		field.NullTime("last_used_at", &k.LastUsedAt).ReadOnly(),
		field.Int("created_by", &k.CreatedBy).ReadOnly(),
		field.Int("owner", &k.Owner).ReadOnly(),
		field.Time("created_at", &k.CreatedAt).ReadOnly().Headed("made"),
	})
}

// Columns tell which websites may use the key, and whether it has ended.
func (k *APIKey) Columns() field.Set {
	websites, ended := "all", k.RevokedAt != nil
	if len(k.AllowedDomains) > 0 {
		websites = strings.Join(k.AllowedDomains, " ")
	}
	return append(k.Fields(), field.Text("websites", &websites).When(false), field.Flag("ended", &ended).When(false))
}

// keyRow is a key as its table keeps it.
type keyRow struct {
	ID         string
	Mode       storefront.Mode
	Hash       []byte
	Spec       field.Values
	CreatedBy  int64
	Owner      int64
	Origins    []string
	RevokedAt  *time.Time
	LastUsedAt *time.Time
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Version    int
}

const (
	keyColumns = `k.id, k.mode, k.hash, k.spec, k.created_by, k.owner, k.origins, k.revoked_at, used.last_used_at,
		k.created_at, k.updated_at, k.version`
	keyUses = ` left join api_key_uses used on used.id = k.id`
)

func (r keyRow) key() (APIKey, error) {
	k := APIKey{
		ID: r.ID, Mode: r.Mode, Hash: r.Hash, CreatedBy: r.CreatedBy, Owner: r.Owner, Origins: r.Origins, RevokedAt: r.RevokedAt,
		LastUsedAt: r.LastUsedAt, CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, Version: r.Version,
	}
	if err := k.APIKey.Fields().Load(r.Spec); err != nil {
		return k, fmt.Errorf("load API key %s: %w", r.ID, err)
	}
	return k, nil
}

// APIKey finds a key by its public id, revoked and expired ones too: whether
// it may be used is for the caller to judge. It is for the program itself and
// for operators.
func (s OrderReader) APIKey(ctx context.Context, id string) (APIKey, bool, error) {
	w := s.caller.operators()
	w.and("k.id = ?", id)
	r, found, err := maybe(one[keyRow](ctx, s.db, "APIKey", `select `+keyColumns+` from api_keys k`+keyUses, w))
	if !found || err != nil {
		return APIKey{}, false, err
	}
	k, err := r.key()
	return k, err == nil, err
}

var keysBy = listRules{
	columns: keyColumns, from: "api_keys k", joined: keyUses, id: "k.id",
	search: `lower((k.spec ->> 'name') || chr(10) || k.id)`,
	fields: with(fieldsOf("k", "mode", "owner", "created_by", "revoked_at"),
		"name", "k.spec ->> 'name'"),
}

// APIKeys lists keys to operators, revoked and expired ones too: by name,
// mode, owner, created_by, revoked_at.
func (s OrderReader) APIKeys(ctx context.Context, l Listing) (Listed[APIKey], error) {
	return loadedPart(keyRow.key)(part[keyRow](ctx, s.db, keysBy, s.caller.operators(), l))
}

// TouchKey notes that a key is in use, to the hour. Within an hour only the
// first call of each process reaches the database.
func (t *Tables) TouchKey(ctx context.Context, id string, now time.Time) error {
	hour := now.UTC().Truncate(time.Hour)
	if last, known := t.touched.Load(id); known && last == hour {
		return nil
	}
	err := t.For(System).db.ask(ctx, func(b *pgx.Batch) {
		b.Queue(`
			insert into api_key_uses as u (id, last_used_at) values ($1, $2)
			on conflict (id) do update set last_used_at = excluded.last_used_at where u.last_used_at < excluded.last_used_at`, id, hour)
	})
	if err != nil {
		return fmt.Errorf("note the use of API key %s: %w", id, err)
	}
	t.touched.Store(id, hour)
	return nil
}
