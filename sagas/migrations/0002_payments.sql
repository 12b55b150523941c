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
	lease_token   bigint not null default 0
);
create index payment_watch_due on payment_watch (next_at);
create index payment_watch_ref on payment_watch (provider, provider_ref);

grant select, insert, update, delete on webhook_inbox, payment_object, payment_watch to hostpanel_app;
