-- By what events are searched. A reader fills the table behind the log, whose own
-- table gets no further index; it can be made anew at any time (docs/audit.md,
-- "Searching").
create table log_index (
	position    bigint primary key,
	stream      text   collate "C" not null,
	name        text   collate "C" not null,
	tenant      bigint,
	actor       text   collate "C" not null,
	correlation uuid   not null,
	cause       text   collate "C", -- the event that it follows from, "site-12/3"; null: none
	recorded_at timestamptz not null
);
create index log_index_stream on log_index (stream, position);
create index log_index_name on log_index (name, position);
create index log_index_tenant on log_index (tenant, position) where tenant is not null;
create index log_index_actor on log_index (actor, position);
create index log_index_correlation on log_index (correlation, position);
create index log_index_cause on log_index (cause, position) where cause is not null;
create index log_index_time on log_index using brin (recorded_at);
grant select, insert, delete on log_index to hostpanel_app;

alter table log_index enable row level security;
alter table log_index force row level security;
create policy reads on log_index for select using ((select sees_all()) or tenant = (select scope_tenant()));
create policy writes on log_index using (is_system());
