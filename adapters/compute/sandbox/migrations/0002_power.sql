-- Machines can be switched off and on again: one runs from boots_at until stops_at.
alter table sandbox_compute.machines add column stops_at timestamptz not null default 'infinity';
