-- What operators list runs and webhooks by (docs/operations.md).
alter table saga_run add column created_at timestamptz not null default now();
update saga_run r set created_at = e.recorded_at from events e where e.stream = 'saga-' || r.id and e.version = 1;
create index saga_run_newest on saga_run (created_at desc, id desc);
create index saga_run_kind on saga_run (split_part(key, ':', 1), created_at desc, id desc);
create index saga_run_stopped on saga_run (created_at desc, id desc) where status in ('parked', 'paused');
create index webhook_inbox_newest on webhook_inbox (received_at desc, id desc);
create index webhook_inbox_stuck on webhook_inbox (received_at desc, id desc) where state in ('unmatched', 'parked');

-- When something that is due once a day was done last, by whatever process.
create table saga_daily (
	name text primary key,
	at   timestamptz not null
);
grant select, insert, update, delete on saga_daily to hostpanel_app;
