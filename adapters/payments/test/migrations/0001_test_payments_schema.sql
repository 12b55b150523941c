-- The test payment provider's own books (docs/adapters.md, "The test provider").
create schema test_payments;
create table test_payments.sessions (
  id text primary key,
  effect_key text not null unique,
  payment_id text not null,             -- of a payment made on the page
  order_id uuid not null,
  reference text not null,              -- whose order a signed event says it is; at first order_id
  number text not null, minor bigint not null, currency text not null, description text not null, language text not null,
  return_url text not null, cancel_url text not null,
  state text not null default 'open' check (state in ('open', 'complete', 'expired')),
  expires_at timestamptz not null,
  settle_at timestamptz,                -- when an unpaid one will be paid
  silent boolean not null default false, -- no webhooks
  made_at timestamptz not null);
create index on test_payments.sessions (settle_at) where settle_at is not null;
create index on test_payments.sessions (expires_at) where state = 'open';
create table test_payments.payments (
  session text not null references test_payments.sessions, id text not null,
  state text not null check (state in ('pending', 'declined', 'paid')),
  minor bigint not null, currency text not null, at timestamptz not null, primary key (session, id));
create table test_payments.refunds (    -- asked for by the panel, or made elsewhere
  id text primary key, session text not null references test_payments.sessions, minor bigint not null, currency text not null, at timestamptz not null,
  payment text not null,
  reference text not null default '',   -- ours; empty: made elsewhere
  key text unique,                      -- the panel's key: asked again with it, the answer is the same refund
  state text not null default 'succeeded' check (state in ('pending', 'succeeded', 'failed')));
create index on test_payments.refunds (session);
create table test_payments.disputes (
  id text primary key, session text not null references test_payments.sessions, payment text not null,
  state text not null check (state in ('open', 'won', 'lost')),
  minor bigint not null, currency text not null, at timestamptz not null);
create index on test_payments.disputes (session);
create table test_payments.webhooks (   -- to be delivered to the panel's own public address
  id bigint generated always as identity primary key,
  body text not null,                   -- signed anew at each try
  made_at timestamptz not null, due_at timestamptz not null,
  tries int not null default 0,
  lease_until timestamptz not null default '-infinity', -- somebody is delivering it
  over_at timestamptz,                  -- delivered, or given up
  status int);                          -- of the last answer; 0: none came
create index on test_payments.webhooks (due_at) where over_at is null;
create index on test_payments.webhooks (over_at) where over_at is not null;
grant usage on schema test_payments to hostpanel_app;
grant select, insert, update, delete on all tables in schema test_payments to hostpanel_app;
