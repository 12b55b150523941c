-- The machines of the sandbox hypervisor (docs/adapters.md, "Sandboxes").
create schema sandbox_compute;
create table sandbox_compute.machines (
  id bigint generated always as identity (start with 100) primary key, -- the hypervisor's number
  name text not null,
  tag text not null,                    -- the panel's reference: order id
  cores bigint not null, memory_mb bigint not null, disk_gb bigint not null, traffic_tb bigint not null,
  os text not null,
  address text not null default '',     -- known once it has booted
  made_at timestamptz not null default now(),
  boots_at timestamptz not null,
  visible_at timestamptz not null,      -- fault "late"
  gone_at timestamptz not null default 'infinity'); -- fault "forget"
create index on sandbox_compute.machines (name);
create index on sandbox_compute.machines (tag);
-- Every creation that was really carried out, for ever: the oracle of the fault tests.
create table sandbox_compute.creations (
  name text not null, tag text not null, id bigint not null, made_at timestamptz not null default now());
create index on sandbox_compute.creations (tag);
create index on sandbox_compute.creations (name);
grant usage on schema sandbox_compute to hostpanel_app;
grant select, insert, update, delete on all tables in schema sandbox_compute to hostpanel_app;
grant usage on all sequences in schema sandbox_compute to hostpanel_app;
