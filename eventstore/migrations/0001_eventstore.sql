-- The log, and the role that the program works as: it may add facts and read
-- them, never change or remove one. docs/log.md tells the reasons.
do $$
begin
	if not exists (select from pg_roles where rolname = 'hostpanel_app') then
		create role hostpanel_app nologin;
	end if;
exception
	when duplicate_object or unique_violation then null; -- somebody else was faster
	when insufficient_privilege then
		raise exception 'the role hostpanel_app is missing and % may not make it', current_user
			using hint = format('Run as a superuser: create role hostpanel_app nologin; grant hostpanel_app to %I;', current_user);
end $$;
do $$
begin
	if not pg_has_role(current_user, 'hostpanel_app', 'member') then
		execute format('grant hostpanel_app to %I', current_user);
	end if;
exception
	when insufficient_privilege then
		raise exception '% may not work as hostpanel_app', current_user
			using hint = format('Run as a superuser: grant hostpanel_app to %I;', current_user);
end $$;
grant usage on schema public to hostpanel_app;

create table events (
	position    bigint   primary key,
	stream      text     collate "C" not null,
	version     int      not null,
	id          uuid     not null,
	name        text     collate "C" not null,
	schema      smallint not null,
	tenant      bigint,
	actor       text     not null,
	correlation uuid     not null,
	causation   text     collate "C" not null, -- docs/log.md, "Causes"
	saga        text     not null,
	data        json     not null, -- json, not jsonb: kept byte for byte, as the hash needs it
	meta        json     not null,
	recorded_at timestamptz not null,
	hash        bytea    not null,
	constraint events_stream_version unique (stream, version)
);
-- Only the newest pages are written to, so the table is kept out of the way of
-- the vacuum until there is something to freeze.
grant select, insert on events to hostpanel_app;

create function refuse_change() returns trigger language plpgsql as $$
begin
	raise exception 'the log is append-only: % on % refused', tg_op, tg_table_name using errcode = 'HP002';
end $$;
create trigger events_stay before update or delete on events for each row execute function refuse_change();
create trigger events_stay_all before truncate on events for each statement execute function refuse_change();

-- The time of the fact that a read table is being brought up to date with.
create function recorded_at() returns timestamptz language sql stable as
	$$ select current_setting('hostpanel.recorded_at')::timestamptz $$;

-- Breaks the transaction if a row of an append did not touch what it must.
create function expect_rows(touched bigint, wanted bigint, which int) returns void language plpgsql as $$
begin
	if touched <> wanted then
		raise exception 'row % touched % rows instead of %', which, touched, wanted
			using errcode = 'HP001', detail = which::text;
	end if;
end $$;

-- How far each reader of the log has come.
create table readers (
	name     text primary key,
	position bigint not null default 0
);
-- Facts that a reader could not handle, out of the way of those behind them.
create table poisoned (
	reader    text   not null,
	position  bigint not null,
	reason    text   not null,
	moved_at  timestamptz not null default real_now(),
	primary key (reader, position)
);
grant select, insert, update, delete on readers, poisoned to hostpanel_app;

-- Numbers without gaps are drawn here, inside the transaction that uses them.
create table series (
	name text primary key,
	last bigint not null
);
grant select, insert, update on series to hostpanel_app;

-- Numbers of records; gaps do no harm.
create sequence tenant_id;
create sequence user_id;
create sequence site_id;
create sequence vm_id;
create sequence plan_id;
create sequence widget_id;
create sequence package_id;
create sequence database_id;
create sequence dns_zone_id;
create sequence dns_record_id;
create sequence mail_domain_id;
create sequence mailbox_id;
create sequence mail_alias_id;
create sequence ftp_account_id;
create sequence shell_user_id;
create sequence ssl_certificate_id;
create sequence whitelabel_id;
create sequence proxy_id;
create sequence webhook_endpoint_id;
grant usage on sequence tenant_id, user_id, site_id, vm_id, plan_id, widget_id, package_id, database_id, dns_zone_id,
	dns_record_id, mail_domain_id, mailbox_id, mail_alias_id, ftp_account_id, shell_user_id, ssl_certificate_id,
	whitelabel_id, proxy_id, webhook_endpoint_id to hostpanel_app;

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

-- When the calls of each limited key came, within its window. A crash may forget
-- them, and no read waits for the disk because it was counted. The calls stay in
-- their row, up to a page: compressing or moving them costs more than counting.
create unlogged table rate_windows (
	key     text primary key,
	calls   timestamptz[] not null,
	granted boolean not null -- the last one asked for
) with (fillfactor = 70, toast_tuple_target = 8160);

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
create index on one_time_tokens (expires_at);

-- Password hashes (argon2id, PHC form).
create table credentials (
	user_id    bigint primary key,
	phc        text not null,
	changed_at timestamptz not null default real_now()
);
grant select, insert, update, delete on once_keys, rate_windows, secret_handoff, one_time_tokens, credentials to hostpanel_app;

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

-- What messages to the endpoints of tenants are signed with, sealed. A secret
-- that has been replaced signs along until it expires.
create table endpoint_secrets (
	id         uuid   primary key,
	endpoint   bigint not null,
	key_id     text   not null,
	nonce      bytea  not null,
	sealed     bytea  not null,
	created_at timestamptz not null default real_now(),
	expires_at timestamptz -- null: it is the present one
);
create index on endpoint_secrets (endpoint);
create index on endpoint_secrets (expires_at) where expires_at is not null;
grant select, insert, update, delete on endpoint_secrets to hostpanel_app;

-- How far the check of the log in the background has come (docs/log.md,
-- "Tamper evidence"). One row.
create table log_verification (
	id          boolean primary key default true check (id),
	position    bigint  not null default 0,     -- of the last event that was checked
	hash        bytea   not null default '',    -- that it had
	is_over     boolean not null default false, -- the log was checked to its end
	broken      bigint  not null default 0,     -- events in this round that are not as they were written
	verified_at timestamptz,                    -- when the end was reached lastly
	next_at     timestamptz not null default real_now() + interval '1 hour'
);
insert into log_verification default values;
grant select, update on log_verification to hostpanel_app;

-- Whose rows a transaction may see is asked of the database as well, so that a
-- query that forgot to ask is answered with nothing. docs/security.md,
-- "Row-level security", tells what the settings mean.

-- The program itself, whose transactions span tenants: it alone writes.
create function is_system() returns boolean language sql stable parallel safe as
	$$ select coalesce(current_setting('app.user_id', true) = 'system', false) $$;
-- The program itself, or an operator.
create function sees_all() returns boolean language sql stable parallel safe as
	$$ select coalesce(current_setting('app.tenant_id', true) = 'system', false) $$;
create function scope_tenant() returns bigint language sql stable parallel safe as
	$$ select nullif(nullif(current_setting('app.tenant_id', true), ''), 'system')::bigint $$;
create function scope_user() returns bigint language sql stable parallel safe as
	$$ select nullif(nullif(current_setting('app.user_id', true), ''), 'system')::bigint $$;
create function scope_key_owner() returns bigint language sql stable parallel safe as
	$$ select nullif(nullif(current_setting('app.key_owner', true), ''), 'system')::bigint $$;
-- The tenants that the user is a member of. Not in SQL: the table is a read
-- table, which comes later and is replaced when it is rebuilt.
create function scope_tenants() returns bigint[] language plpgsql stable as $$
begin
	return array(select tenant from public.memberships where user_id = public.scope_user());
end $$;

-- Who reads many rows is asked in sub-selects, which are evaluated once a query
-- and not once a row. Who writes is asked for each row: they are few, and a
-- sub-select costs more than the question.
alter table events enable row level security;
alter table events force row level security;
create policy reads on events for select using ((select sees_all()) or tenant = (select scope_tenant()));
create policy writes on events using (is_system());

-- Secrets, and what belongs to a person without being a fact, are the
-- program's own business.
do $$
declare
	kept text;
begin
	foreach kept in array array[
		'subject_keys', 'subjects', 'once_keys', 'secret_handoff', 'one_time_tokens', 'credentials',
		'refresh_families', 'refresh_tokens', 'browser_sessions', 'endpoint_secrets'
	] loop
		execute format('alter table %I enable row level security', kept);
		execute format('alter table %I force row level security', kept);
		execute format('create policy writes on %I using (is_system())', kept);
	end loop;
end $$;
