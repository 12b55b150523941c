-- Lets the runs go on that wait for a stream, as before. A kept plan uses the index of
-- waiting runs only when the query has its whole condition.
create or replace function release_runs(stream text) returns void language plpgsql as $$
begin
	perform pg_advisory_xact_lock(hashtextextended('saga_run/awaits/' || stream, 0));
	update saga_run set run_at = business_now() where id in (
		select id from saga_run where awaits = stream and awaits <> '' and status = 'waiting' for update skip locked);
end $$;
