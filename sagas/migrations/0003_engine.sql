-- Runs that bring one hosting resource to the engine: which it is, and which
-- resource the run waits for (docs/sagas.md, "Engine").
alter table saga_run
	add column about  text not null default '', -- 'site-42'
	add column awaits text not null default ''; -- 'tenant-17', as long as status is 'waiting'
create index saga_run_about on saga_run (about) where about <> '' and status not in ('done', 'undone');
create index saga_run_awaits on saga_run (awaits) where awaits <> '' and status = 'waiting';
