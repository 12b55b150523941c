-- Rows that are no facts. What stands here may be lost to expiry, to erasure
-- or to use; the log never depends on it.

-- Keys of people's personal data. Destroying a key blanks the texts sealed with it.
create table subject_keys (
	subject    uuid  not null,
	purpose    text  not null,
	key_id     text  not null, -- which secret key wraps it
	wrapped    bytea not null,
	created_at timestamptz not null default real_now(),
	primary key (subject, purpose)
);
-- Which subject an address belongs to; the address itself does not stand here.
create table subjects (
	address_mac bytea primary key,
	subject     uuid not null unique
);
grant select, insert, update, delete on subject_keys, subjects to hostpanel_app;

-- Requests that a client promised to be the same (header Idempotency-Key).
create table once_keys (
	scope         bytea primary key, -- of principal, method, path and key
	fingerprint   bytea not null,
	status        int   not null,
	location      text  not null,
	etag          text,
	body          bytea,
	running_until timestamptz,       -- null: the request has ended
	expires_at    timestamptz not null
);
create index on once_keys (expires_at);

-- When the calls of each limited key came, within its window.
create table rate_windows (
	key     text primary key,
	calls   timestamptz[] not null,
	granted boolean not null -- the last one asked for
) with (fillfactor = 70);

-- Secrets on their way to an engine or into a mail, sealed; deleted when taken.
create table secret_handoff (
	id         uuid  primary key,
	purpose    text  not null,
	effect_key text  not null unique,
	key_id     text  not null,
	nonce      bytea not null,
	sealed     bytea not null,
	created_at timestamptz not null default real_now(),
	expires_at timestamptz not null
);
create index on secret_handoff (expires_at);

-- Links that work once; the token itself is only in the mail.
create table one_time_tokens (
	hash       bytea primary key,
	purpose    text   not null,
	user_id    bigint not null,
	expires_at timestamptz not null,
	used_at    timestamptz
);
create index on one_time_tokens (user_id);

-- Password hashes (argon2id, PHC form).
create table credentials (
	user_id    bigint primary key,
	phc        text not null,
	changed_at timestamptz not null default real_now()
);
grant select, insert, update, delete on once_keys, rate_windows, secret_handoff, one_time_tokens, credentials to hostpanel_app;
