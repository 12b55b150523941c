-- Who has looked at which stream: once for each caller, stream and hour
-- (docs/audit.md, "Who has looked").
create table log_looks (
	id         bigint      generated always as identity primary key,
	stream     text        collate "C" not null,
	actor      text        collate "C" not null, -- "user:2", "operator:1", "system:console"
	tenant     bigint,                           -- that the stream belongs to; null: to none
	hour       timestamptz not null,
	created_at timestamptz not null,             -- the first look in the hour
	unique (stream, actor, hour)
);
create index log_looks_newest on log_looks (created_at desc, id desc);
create index log_looks_tenant on log_looks (tenant, created_at desc, id desc) where tenant is not null;
grant select, insert, delete on log_looks to hostpanel_app;

alter table log_looks enable row level security;
alter table log_looks force row level security;
create policy reads on log_looks for select using ((select sees_all()) or tenant = (select scope_tenant()));
create policy writes on log_looks using (is_system());
