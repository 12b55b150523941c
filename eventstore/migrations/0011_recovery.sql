-- A panel that was restored from a backup may have done more outside than it knows.
-- Until an operator ends the recovery mode, nothing reaches outside (docs/backup.md,
-- "Recovery mode"). Each restore is a row.
create table recovery (
	number   int    primary key,
	began_at timestamptz not null default real_now(),
	head     bigint not null,                -- last event that was restored: runs that began up to it may have gone on elsewhere
	reason   text   not null,
	is_ready boolean not null default false, -- false: the restore has not ended, and no program may work here
	ended_at timestamptz                     -- null: the mode is on
);
grant select, insert, update on recovery to hostpanel_app;

alter table recovery enable row level security;
alter table recovery force row level security;
create policy writes on recovery using (is_system());

-- What is claimed for work outside asks this in the same statement.
create function in_recovery() returns boolean language sql stable as
	$$ select exists (select from public.recovery where ended_at is null) $$;

-- A run that was restored may have gone on elsewhere, up to its end. So may what comes
-- of a restored order on the first day.
create function was_restored(run uuid, of_order uuid) returns boolean language sql stable as $$
	select exists (select from public.recovery) and (
		coalesce((select position from public.events where stream = 'saga-' || run and version = 1) <= (select max(head) from public.recovery), false)
		or coalesce((select position from public.events where stream = 'order-' || of_order and version = 1) <= (
			select max(head) from public.recovery where coalesce(ended_at, real_now()) > real_now() - interval '1 day'), false))
$$;

-- For a month after the mode, each call is looked up before it is made, also if it was
-- never made from here: what is decided now may have been decided before.
create function looks_first() returns boolean language sql stable as
	$$ select exists (select from public.recovery where coalesce(ended_at, real_now()) > real_now() - interval '30 days') $$;
