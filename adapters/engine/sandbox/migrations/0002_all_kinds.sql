-- Everything that hosting has, not clients and sites alone: what an object
-- belongs to, and what has been measured of it.
alter table sandbox_engine.objects
  add column parents jsonb not null default '{}', -- numbers of what it belongs to: {"site": 5}
  add column used bigint not null default 0,      -- bytes
  add column traffic bigint not null default 0;   -- bytes this month
create index on sandbox_engine.objects using gin (parents);
