-- Runs of sagas, what they have done outside, and the news that payment
-- providers send. docs/sagas.md tells what the words mean.

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
	def              text    not null,        -- 'provision/1'
	steps            jsonb   not null,        -- frozen [{name, queue}]
	input            jsonb   not null,        -- ids only
	order_id         uuid,
	direction        text    not null default 'do' check (direction in ('do', 'undo')),
	status           text    not null default 'ready'
		check (status in ('ready', 'running', 'waiting', 'parked', 'paused', 'done', 'undone')),
	step             int     not null default 0,
	queue            text    not null references saga_queue,
	attempt          int     not null default 0,
	cancel_requested boolean not null default false,
	run_at           timestamptz not null default now(),
	step_deadline    timestamptz,
	lease_until      timestamptz,
	lease_token      bigint  not null default 0,
	worker           text,
	stream_version   bigint  not null default 0
) with (fillfactor = 70);
create index saga_run_due on saga_run (queue, run_at) where status in ('ready', 'waiting');
-- Not by lease_until: a lease that is prolonged would write every index anew.
create index saga_run_lost on saga_run (queue) where status = 'running';
create index saga_run_order on saga_run (order_id);

create table saga_attempt (
	saga_id     uuid   not null,
	token       bigint not null,
	step        int    not null,
	started_at  timestamptz not null default now(),
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
	undo        jsonb,
	token       bigint  not null,
	updated_at  timestamptz not null default now()
);
create index effect_run on effect (saga_id);
create index effect_unknown on effect (updated_at) where state in ('intended', 'unknown');

-- One writer per object outside.
create table external_claim (
	server text, kind text, name text,
	owner  text not null, -- the effect's key
	primary key (server, kind, name)
);

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
	received_at     timestamptz not null default now(),
	state           text  not null default 'stored' check (state in ('stored', 'done', 'ignored', 'unmatched', 'parked')),
	attempts        int   not null default 0,
	next_at         timestamptz not null default now(),
	error           text,
	primary key (provider, event_id)
);
create unique index webhook_inbox_transmission on webhook_inbox (provider, transmission_id) where transmission_id is not null;
create index webhook_inbox_due on webhook_inbox (next_at) where state = 'stored';
create index webhook_inbox_unmatched on webhook_inbox (provider, object_ref) where state = 'unmatched';
create index webhook_inbox_order on webhook_inbox (order_id);
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
	lease_token   bigint not null default 0
);
create index payment_watch_due on payment_watch (next_at);
create index payment_watch_ref on payment_watch (provider, provider_ref);

grant select, insert, update, delete on saga_queue, saga_run, saga_attempt, effect, external_claim,
	webhook_inbox, payment_object, payment_watch to hostpanel_app;
