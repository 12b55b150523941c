-- Who is signed in. Only hashes of what people hold stand here.

-- A family is what began with one sign-in: a refresh token and all that
-- replaced it. It is revoked as a whole.
create table refresh_families (
	family     uuid primary key,
	user_id    bigint not null,
	expires_at timestamptz not null, -- of its last token
	revoked_at timestamptz
);
create index on refresh_families (user_id);
create index on refresh_families (expires_at);
create table refresh_tokens (
	hash       bytea primary key, -- SHA-256 of the jti
	family     uuid  not null references refresh_families on delete cascade,
	expires_at timestamptz not null,
	used_at    timestamptz
);
create index on refresh_tokens (family);
create index on refresh_tokens (expires_at);

-- People in browsers.
create table browser_sessions (
	hash         bytea  primary key, -- SHA-256 of the id in the cookie
	user_id      bigint not null,
	version      int    not null,    -- session version of the user when it began
	started_at   timestamptz not null default real_now(),
	seen_at      timestamptz not null default real_now(),
	confirmed_at timestamptz         -- the password was asked for again
);
create index on browser_sessions (user_id);
create index on browser_sessions (started_at);
grant select, insert, update, delete on refresh_families, refresh_tokens, browser_sessions to hostpanel_app;

create index on one_time_tokens (expires_at);

-- Limits are no facts: a crash may forget them, and no read waits for the disk
-- because it was counted.
alter table rate_windows set unlogged;
