-- An object outside is claimed by the resource that it is made for, whoever
-- makes it (docs/sagas.md, "Claims"); orders used to claim it for themselves.
alter table external_claim add column taken_at timestamptz not null default now(); -- the last time that somebody set out to write to it
create index external_claim_owner on external_claim (owner);
update external_claim c set owner = of.kind || '-' || (r.input ->> of.kind)
from (values ('tenant.engine', 'tenant'), ('site', 'site'), ('vm', 'vm')) as of (step, kind), saga_run r
where c.owner = 'o/' || r.order_id || '/' || of.step and r.key = 'provision:' || r.order_id and r.input ? of.kind;
