-- What the sandbox engine has on its server (docs/adapters.md, "Sandboxes").
create schema sandbox_engine;
create table sandbox_engine.objects (
  kind text not null,
  id bigint generated always as identity,
  owner bigint not null,                -- id of the client that it belongs to; 0: it is a client
  name text not null,                   -- natural key: login, domain
  ref text not null,                    -- the panel's reference: customer number
  sent json not null,                  -- as the panel sent it, byte for byte
  observed json not null,              -- what the engine adds: document root …
  secrets json not null default '{}',  -- hashes of passwords
  made_at timestamptz not null default now(),
  applied_at timestamptz not null,
  visible_at timestamptz not null,      -- fault "late"
  gone_at timestamptz not null default 'infinity', -- fault "forget"
  primary key (kind, id));
create index on sandbox_engine.objects (kind, name);
create index on sandbox_engine.objects (kind, ref) where ref <> '';
create index on sandbox_engine.objects (owner) where owner > 0;
-- Every creation that was really carried out, for ever: the oracle of the fault tests.
create table sandbox_engine.creations (
  kind text not null, name text not null, ref text not null, id bigint not null, made_at timestamptz not null default now());
create index on sandbox_engine.creations (kind, name);
grant usage on schema sandbox_engine to hostpanel_app;
grant select, insert, update, delete on all tables in schema sandbox_engine to hostpanel_app;
grant usage on all sequences in schema sandbox_engine to hostpanel_app;
