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

alter table endpoint_secrets enable row level security;
alter table endpoint_secrets force row level security;
create policy writes on endpoint_secrets using (is_system());
