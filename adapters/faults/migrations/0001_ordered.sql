-- Faults that somebody has ordered from a sandbox (docs/adapters.md, "Faults").
create schema sandbox_faults;
create table sandbox_faults.ordered (
  id bigint generated always as identity primary key,
  target text not null,                 -- engine, compute, payments
  call text not null default '',        -- create, find, remove …; empty: any
  kind text not null default '',        -- site, tenant, vm …; empty: any
  name text not null default '',        -- of one object; empty: any
  fault text not null,
  delay interval not null default '0',
  times_left int not null check (times_left >= 0),
  chance int not null default 1000 check (chance between 1 and 1000), -- of 1000 matching calls
  seed bigint not null default 0,       -- decides which
  met bigint not null default 0,        -- matching calls so far
  ordered_at timestamptz not null default real_now());
create index on sandbox_faults.ordered (target, id) where times_left > 0;
grant usage on schema sandbox_faults to hostpanel_app;
grant select, insert, update, delete on sandbox_faults.ordered to hostpanel_app;
