-- Tenants get their runs claimed in turns, and orders come first (docs/sagas.md, "Turns").
alter table saga_run add column party bigint not null default 0; -- the tenant that it works for; 0: none
alter table saga_queue
	add column turn  bigint not null default -1, -- the party that had its turn last
	add column ahead int    not null default 0;  -- runs of orders that were claimed since

-- The tenant of the event that a cause names; 0: none.
create function party_of(cause text) returns bigint language sql stable as $$
	select coalesce((select tenant from events
		where stream = substring(cause from '^event:(.*)/\d+$') and version = substring(cause from '/(\d+)$')::int), 0)
$$;

update saga_run set party = party_of(cause) where order_id is null and status not in ('done', 'undone');
create index saga_run_turns on saga_run (queue, party, run_at) where status in ('ready', 'waiting') and order_id is null;
create index saga_run_ahead on saga_run (queue, run_at, id) where status in ('ready', 'waiting') and order_id is not null;

-- Chooses among more due runs than there is room for. Orders get three of four places. The
-- parties get the others in turns, a run each, from the one that had the last turn. A look at a
-- party costs as much as another, so they are bounded; what room is left then goes by time.
-- Each look takes one row from the index that has its order: without sorts, no other index does.
-- The caller has locked the queue's row.
create function next_runs(of_queue text, room int, known text[]) returns uuid[] language plpgsql
	set enable_seqscan = off set enable_bitmapscan = off set enable_sort = off set enable_incremental_sort = off set jit = off as $$
declare
	last    bigint;
	before  int;
	picked  uuid[] := '{}';
	looks   int := 32 + 4 * room;
	orders  boolean := true; -- some may be left
	parties boolean := true;
	whole   boolean := false; -- the round began with the first party
	served  boolean := false; -- a party in this round
	next    record;
begin
	select turn, ahead into last, before from saga_queue where queue = of_queue;
	while cardinality(picked) < room and looks > 0 and (orders or parties) loop
		looks := looks - 1;
		if orders and (before < 3 or not parties) then
			select id into next from saga_run
				where queue = of_queue and status in ('ready', 'waiting') and order_id is not null and run_at <= business_now()
					and definition = any(known) and id <> all(picked)
				order by run_at, id limit 1;
			orders := found;
			if orders then
				picked := picked || next.id;
				before := least(before + 1, 3);
			end if;
		elsif parties then
			select id, party, run_at <= business_now() as due into next from saga_run
				where queue = of_queue and status in ('ready', 'waiting') and order_id is null and party > last
					and definition = any(known) and id <> all(picked)
				order by party, run_at limit 1;
			if not found then -- the next round begins
				parties := served or not whole;
				whole := true;
				served := false;
				last := -1;
			else
				last := next.party;
				if next.due then
					picked := picked || next.id;
					before := 0;
					served := true;
				end if;
			end if;
		end if;
	end loop;
	update saga_queue set turn = last, ahead = before where queue = of_queue and (turn, ahead) is distinct from (last, before);
	return picked || array(
		select id from saga_run
		where queue = of_queue and status in ('ready', 'waiting') and run_at <= business_now() and definition = any(known) and id <> all(picked)
		order by run_at limit room - cardinality(picked));
end $$;

-- As before, but what is due goes by turns where there is not room for all of it.
create or replace function claim_runs(of_queue text, most int, by text, lease interval, known text[], breaks int)
	returns table (claimable int, run saga_run) language plpgsql set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
#variable_conflict use_column
declare
	found_runs int;
	lost_runs  int;
	room       int;
	picked     uuid[];
begin
	select count(*), count(*) filter (where lost) into found_runs, lost_runs from (
		(select false as lost from saga_run where queue = of_queue and status in ('ready', 'waiting') and run_at <= business_now()
			and definition = any(known) limit most + 1)
		union all
		(select true from saga_run where queue = of_queue and status = 'running' and lease_until < real_now() and definition = any(known)
			limit most + 1)
	) due;
	if found_runs = 0 then
		return;
	end if;
	room := room_in(of_queue, breaks);
	if room is null then
		return;
	end if;
	room := greatest(0, least(most, room));
	if lost_runs < room and room < found_runs then
		picked := next_runs(of_queue, room - lost_runs, known);
	elsif lost_runs < room then
		picked := array(select id from saga_run
			where queue = of_queue and status in ('ready', 'waiting') and run_at <= business_now() and definition = any(known)
			order by run_at limit room - lost_runs);
	end if;
	return query
		with lost as (
			select id from saga_run where queue = of_queue and status = 'running' and lease_until < real_now() and definition = any(known)
			order by lease_until limit room for update skip locked
		), due as (
			select id from saga_run where id = any(picked) and queue = of_queue
				and status not in ('running', 'parked', 'paused', 'done', 'undone') -- so that it reads by id, not all that is due
			for update skip locked
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
