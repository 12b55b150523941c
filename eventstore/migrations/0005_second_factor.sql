-- What users prove themselves with beside the password. The secret that codes are
-- computed from is sealed; of recovery codes only hashes are kept.
create table second_factors (
	user_id      bigint primary key,
	key_id       text   not null,
	nonce        bytea  not null,
	sealed       bytea  not null,
	proposed_at  timestamptz not null default real_now(),
	confirmed_at timestamptz,               -- null: no code has been shown yet
	last_step    bigint not null default 0  -- 30 seconds since 1970 of the last accepted code: each is accepted once
);
create table recovery_codes (
	user_id bigint not null,
	phc     text   not null, -- argon2id; the codes of a set share their salt
	primary key (user_id, phc)
);

-- Browsers whose user has given the password and not yet the code.
create table pending_sign_ins (
	hash       bytea  primary key, -- SHA-256 of the id in the cookie
	user_id    bigint not null,
	version    int    not null,    -- session version of the user when it began
	started_at timestamptz not null default real_now()
);
create index on pending_sign_ins (user_id);
create index on pending_sign_ins (started_at);
grant select, insert, update, delete on second_factors, recovery_codes, pending_sign_ins to hostpanel_app;

do $$
declare
	kept text;
begin
	foreach kept in array array['second_factors', 'recovery_codes', 'pending_sign_ins'] loop
		execute format('alter table %I enable row level security', kept);
		execute format('alter table %I force row level security', kept);
		execute format('create policy writes on %I using (is_system())', kept);
	end loop;
end $$;
