-- Addresses for which somebody has asked for a new password. Whether they
-- belong to an account is found out afterwards, so that asking takes the same
-- time for all (docs/accounts.md, "One-time links").
create table reset_request (
	id       uuid  primary key,
	key_id   text  not null,
	nonce    bytea not null,
	sealed   bytea not null, -- the address
	asked_at timestamptz not null default real_now(),
	attempts int   not null default 0,
	next_at  timestamptz not null default real_now() -- also the end of the lease of whoever works on it
);
create index reset_request_due on reset_request (next_at);

grant select, insert, update, delete on reset_request to hostpanel_app;
