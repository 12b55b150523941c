-- Work that comes due by itself (docs/sagas.md, "Tasks"): a row for each task that is in work,
-- has failed, or is parked, of the queues without a table of their own.
create sequence task_lease; -- a token is drawn once, so a row that was deleted and made anew has another

create table task (
	queue         text   not null,
	key           text   not null,
	state         text   not null default 'waiting' check (state in ('waiting', 'parked')),
	next_at       timestamptz not null default business_now(),
	attempts      int    not null default 0, -- that failed, in a row
	failing_since timestamptz,
	lease_token   bigint not null default nextval('task_lease'),
	lease_until   timestamptz,
	worker        text,
	error         text,                      -- of the last attempt, for operators
	primary key (queue, key)
) with (fillfactor = 70);

grant select, insert, update, delete on task to hostpanel_app;
grant usage on sequence task_lease to hostpanel_app;

-- The watch has the columns of a queue's table.
alter table payment_watch rename column fails to attempts;
alter table payment_watch add column worker text, add column error text;
create index payment_watch_failing on payment_watch (order_id) where attempts > 0;

-- Requests of new passwords are leased by their tasks.
drop index reset_request_due;
alter table reset_request drop column attempts, drop column next_at;
create index reset_request_asked on reset_request (asked_at);

-- So are measurements and comparisons, whose tables are made with the read tables.
alter table if exists tenant_usage drop column if exists fails;
alter table if exists engine_comparison drop column if exists fails;
