-- Money that goes back: refunds asked for by the panel or made elsewhere, and disputes.
alter table test_payments.refunds
  add payment text, add reference text not null default '', -- ours; empty: made elsewhere
  add key text unique,                  -- the panel's key: asked again with it, the answer is the same refund
  add state text not null default 'succeeded' check (state in ('pending', 'succeeded', 'failed'));
update test_payments.refunds r set payment = s.payment_id from test_payments.sessions s where s.id = r.session;
alter table test_payments.refunds alter payment set not null;
create table test_payments.disputes (
  id text primary key, session text not null references test_payments.sessions, payment text not null,
  state text not null check (state in ('open', 'won', 'lost')),
  minor bigint not null, currency text not null, at timestamptz not null);
create index on test_payments.disputes (session);
grant select, insert, update, delete on test_payments.disputes to hostpanel_app;
