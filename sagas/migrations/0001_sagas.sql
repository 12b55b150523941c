-- Runs of sagas and what they have done outside (docs/sagas.md).

-- One row per place where work waits its turn: an engine's server, a payment
-- provider, mail, our own database.
create table saga_queue (
	queue         text    primary key,
	max_in_flight int     not null,
	paused        boolean not null default false,
	fails         int     not null default 0, -- in a row; five open the breaker
	open_until    timestamptz
);

-- What is next in each run, and when. Derived from the log, but for the lease.
create table saga_run (
	id               uuid    primary key,
	key              text    not null unique, -- 'provision:<order>' starts once, for ever
	definition       text    not null,        -- 'provision/1'
	steps            jsonb   not null,        -- frozen [{name, queue}]
	input            jsonb   not null,        -- ids, as the definition knows them
	order_id         uuid,
	direction        text    not null default 'do' check (direction in ('do', 'undo')),
	status           text    not null default 'ready'
		check (status in ('ready', 'running', 'waiting', 'parked', 'paused', 'done', 'undone')),
	step             int     not null default 0,
	queue            text    not null references saga_queue,
	attempt          int     not null default 0,
	cancel_requested boolean not null default false,
	run_at           timestamptz not null default business_now(),
	step_deadline    timestamptz,
	lease_until      timestamptz,
	lease_token      bigint  not null default 0,
	worker           text,
	stream_version   bigint  not null default 0,
	about            text    not null default '', -- 'site-42': runs of one stream take their first step one at a time
	number           int     not null default 0,  -- in this order
	awaits           text    not null default '', -- 'tenant-17', as long as status is 'waiting'
	created_at       timestamptz not null default business_now(),
	cause            text    not null,             -- of its start (docs/log.md, "Causes")
	correlation      uuid    not null
) with (fillfactor = 70);
create index saga_run_due on saga_run (queue, run_at) where status in ('ready', 'waiting');
-- Not by lease_until: a lease that is prolonged would write every index anew.
create index saga_run_lost on saga_run (queue) where status = 'running';
create index saga_run_order on saga_run (order_id);
create index saga_run_about on saga_run (about) where about <> '' and status not in ('done', 'undone');
create index saga_run_awaits on saga_run (awaits) where awaits <> '' and status = 'waiting';
create index saga_run_newest on saga_run (created_at desc, id desc);
create index saga_run_kind on saga_run (split_part(key, ':', 1), created_at desc, id desc);
create index saga_run_stopped on saga_run (created_at desc, id desc) where status in ('parked', 'paused');

create table saga_attempt (
	saga_id     uuid   not null,
	token       bigint not null,
	step        int    not null,
	started_at  timestamptz not null default business_now(),
	finished_at timestamptz,
	outcome     text,
	error_class text,
	error       text,
	next_run_at timestamptz,
	primary key (saga_id, token, step)
);
create index saga_attempt_age on saga_attempt (started_at);

-- Everything that may have been done outside: written before it is done.
create table effect (
	key         text    primary key, -- 'o/<order>/site': no attempt, no clock, no chance
	saga_id     uuid    not null,
	step        text    not null,
	state       text    not null
		check (state in ('intended', 'unknown', 'absent', 'confirmed', 'deferred', 'skipped', 'undoing', 'undone')),
	request_mac bytea   not null,
	sent_at     timestamptz,
	sends       int     not null default 0, -- that were done or may have been
	external_id text,
	result      jsonb,
	token       bigint  not null,
	updated_at  timestamptz not null default real_now(),
	-- Keys that the other side knows wear out (rule S-6): a later generation of
	-- one is another key for the same effect.
	generation  int         not null default 1,
	keyed_at    timestamptz not null default real_now(), -- when the generation began
	keyed_from  int         not null default 0      -- sends before it
);
create index effect_run on effect (saga_id);
create index effect_unknown on effect (updated_at) where state in ('intended', 'unknown');

-- One writer per object outside.
create table external_claim (
	server text, kind text, name text,
	owner    text not null, -- stream of the resource: 'site-42'
	taken_at timestamptz not null default real_now(), -- the last time that a call was prepared
	primary key (server, kind, name)
);
create index external_claim_owner on external_claim (owner);

-- When something that is due once a day was done last, by any process.
create table saga_daily (
	name text primary key,
	at   timestamptz not null
);

grant select, insert, update, delete on saga_queue, saga_run, saga_attempt, effect, external_claim, saga_daily to hostpanel_app;

-- Payments: what providers send, what was booked, and what is watched.

-- Every webhook that was authentic, for ever: this is what makes each one count once.
create table webhook_inbox (
	id              bigint generated always as identity unique,
	provider        text,
	event_id        text,
	transmission_id text,
	type            text not null,
	object_ref      text,
	payment_ref     text,
	order_id        uuid,
	body            bytea,
	body_hash       bytea not null,
	headers         jsonb not null,
	verified_by     text  not null,
	received_at     timestamptz not null default business_now(),
	state           text  not null default 'stored' check (state in ('stored', 'done', 'ignored', 'unmatched', 'parked')),
	attempts        int   not null default 0,
	next_at         timestamptz not null default business_now(),
	error           text,
	seen_at         timestamptz, -- by the check that has taken it up (rule P-9)
	primary key (provider, event_id)
);
create unique index webhook_inbox_transmission on webhook_inbox (provider, transmission_id) where transmission_id is not null;
create index webhook_inbox_due on webhook_inbox (next_at) where state = 'stored';
create index webhook_inbox_unmatched on webhook_inbox (provider, object_ref) where state = 'unmatched';
create index webhook_inbox_order on webhook_inbox (order_id);
create index webhook_inbox_newest on webhook_inbox (received_at desc, id desc);
create index webhook_inbox_stuck on webhook_inbox (received_at desc, id desc) where state in ('unmatched', 'parked');
create index webhook_inbox_bodies on webhook_inbox (received_at) where body is not null and state in ('done', 'ignored');

-- Payments, refunds and disputes: whatever way the news takes, booked once.
create table payment_object (
	provider  text,
	object_id text,
	kind      text not null,
	order_id  uuid not null,
	primary key (provider, object_id)
);

-- One row per order: when to ask the provider next.
create table payment_watch (
	order_id      uuid   primary key,
	provider      text   not null,
	provider_ref  text,
	reason        text   not null,
	next_at       timestamptz not null,
	wakes         bigint not null default 0, -- hints so far
	checks        int    not null default 0,
	fails         int    not null default 0, -- in a row
	failing_since timestamptz,
	lease_until   timestamptz,
	lease_token   bigint not null default 0,
	cause         text   -- of the first hint; null: none came since the last check
);
create index payment_watch_due on payment_watch (next_at);
create index payment_watch_ref on payment_watch (provider, provider_ref);

grant select, insert, update, delete on webhook_inbox, payment_object, payment_watch to hostpanel_app;

-- Addresses for which a new password was asked for. Their accounts are looked up
-- later, so that asking takes the same time for every address (docs/accounts.md,
-- "One-time links").
create table reset_request (
	id       uuid  primary key,
	key_id   text  not null,
	nonce    bytea not null,
	sealed   bytea not null, -- the address
	asked_at timestamptz not null default real_now(),
	attempts int   not null default 0,
	next_at  timestamptz not null default real_now(), -- also the end of the worker's lease
	cause    text  not null -- of the request (docs/log.md, "Causes")
);
create index reset_request_due on reset_request (next_at);

grant select, insert, update, delete on reset_request to hostpanel_app;
