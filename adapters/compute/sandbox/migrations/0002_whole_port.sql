-- Machines as the port to hypervisors has them. Those made before have a tag, the id of their
-- order, and no uid: the tag finds them.
alter table sandbox_compute.machines
  add column server text not null default 'sandbox',
  add column host text not null default 'sandbox',
  add column uid uuid,                            -- given by the panel; null: made before there was one
  add column installation text not null default '', -- whose it is; '': of any panel
  add column generation bigint not null default 0,
  add column boot bigint not null default 1,
  add column disk bigint not null default 1,
  add column rescue boolean not null default false,
  add column given text[] not null default '{}',  -- addresses; none: the hypervisor's own
  add column hostname text not null default '',   -- of the system on its disk
  add column keys text[] not null default '{}',   -- of SSH, likewise
  add column written text not null default '',    -- what is on its disk besides the template
  add column starts bigint not null default 1,    -- an epoch of counters
  add column received bigint not null default 0,  -- bytes of this epoch
  add column sent bigint not null default 0;
create index on sandbox_compute.machines (uid);
create table sandbox_compute.machine_snapshots (
  machine bigint not null references sandbox_compute.machines on delete cascade,
  name text not null,
  at timestamptz not null default real_now(),
  written text not null,
  primary key (machine, name));
grant select, insert, update, delete on sandbox_compute.machine_snapshots to hostpanel_app;
