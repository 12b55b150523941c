-- Lets the runs go on that wait for a stream, as before, and tells their queues. Most releases
-- find none, so their workers are not woken for nothing. The channel and its payload, a sender
-- that is blank and a text, are those of eventstore/hints.
create or replace function release_runs(stream text) returns void language plpgsql as $$
declare
	told int;
begin
	perform pg_advisory_xact_lock(hashtextextended('saga_run/awaits/' || stream, 0));
	with released as (
		update saga_run set run_at = business_now() where id in (
			select id from saga_run where awaits = stream and awaits <> '' and status = 'waiting' for update skip locked)
		returning queue)
	select count(pg_notify('saga_due', E'\n' || queue)) into told from (select distinct queue from released) queues;
end $$;
