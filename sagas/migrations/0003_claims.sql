-- The plans of these functions are kept, also those that were made while saga_run was
-- empty. So what calls the others reads by index always.

-- How many more runs of a queue may be leased; null: it is paused, or its breaker is open.
-- The queue's row stays locked until the commit, so that claims and hand-overs go one
-- after the other and the limit is exact: the function is volatile, so it counts what was
-- committed before the row was locked. An open breaker lets one probe through.
create function room_in(of_queue text, breaks int) returns int language plpgsql as $$
begin
	perform from saga_queue where queue = of_queue and not paused and coalesce(open_until, real_now()) <= real_now() for no key update;
	if not found then
		return null;
	end if;
	return (
		select case when in_recovery() then 0 else case when fails >= breaks then 1 else max_in_flight end
			- (select count(*) from saga_run where queue = of_queue and status = 'running' and lease_until >= real_now()) end
		from saga_queue where queue = of_queue);
end $$;

-- Tells whether a run may go on in a queue at once. Runs that are due there come first.
create function has_room(of_queue text, breaks int) returns boolean language plpgsql set enable_seqscan = off set jit = off as $$
begin
	return coalesce(room_in(of_queue, breaks), 0) > 0
		and not exists (select from saga_run where queue = of_queue and status in ('ready', 'waiting') and run_at <= business_now());
end $$;

-- Leases runs of a queue: those that are due, and those with an expired lease, which come
-- first. Without anything to claim it locks and writes nothing. Each row tells how many
-- runs could be claimed; without room there is one row, and its run is null.
create function claim_runs(of_queue text, most int, by text, lease interval, known text[], breaks int)
	returns table (claimable int, run saga_run) language plpgsql set enable_seqscan = off set jit = off as $$
#variable_conflict use_column
declare
	found_runs int;
	room       int;
begin
	select count(*) into found_runs from (
		(select from saga_run where queue = of_queue and status in ('ready', 'waiting') and run_at <= business_now()
			and definition = any(known) limit most + 1)
		union all
		(select from saga_run where queue = of_queue and status = 'running' and lease_until < real_now() and definition = any(known) limit most + 1)
	) due;
	if found_runs = 0 then
		return;
	end if;
	room := room_in(of_queue, breaks);
	if room is null then
		return;
	end if;
	room := greatest(0, least(most, room));
	return query
		with lost as (
			select id from saga_run where queue = of_queue and status = 'running' and lease_until < real_now() and definition = any(known)
			order by lease_until limit room for update skip locked
		), due as (
			select id from saga_run where queue = of_queue and status in ('ready', 'waiting') and run_at <= business_now() and definition = any(known)
			order by run_at limit room for update skip locked
		), pick as (
			select id from (select id, 0 o from lost union all select id, 1 from due) x order by o limit room
		)
		update saga_run s set status = 'running', attempt = attempt + 1, worker = by, lease_token = lease_token + 1,
			lease_until = real_now() + lease
		from pick where s.id = pick.id
		returning found_runs, s;
	if not found then
		return query select found_runs, null::saga_run;
	end if;
end $$;
