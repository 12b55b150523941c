-- Cards that the test provider keeps for renewals (docs/adapters.md, "The test provider").
create table test_payments.cards (
  id text primary key,                  -- "pm_test_…"
  customer text not null,               -- "cus_test_…"
  last4 text not null,
  does text not null check (does in ('succeed', 'decline', 'authenticate', 'disappear')), -- when it is charged
  gone_at timestamptz);                 -- removed; null: it is kept
alter table test_payments.sessions
  add column saves boolean not null default false, -- the customer agrees that the card is kept
  add column kept text references test_payments.cards, -- by this session
  add column charges text references test_payments.cards; -- without a page
alter table test_payments.payments
  add column code text not null default '', -- why it was declined or failed
  drop constraint payments_state_check,
  add constraint payments_state_check check (state in ('pending', 'declined', 'failed', 'paid'));
grant select, insert, update, delete on test_payments.cards to hostpanel_app;
