-- Written by hand:
-- One step of ending what a deleted webhook left unfinished, and at last its queue. What somebody has locked is left for
-- later, and holds up neither the rest nor other webhooks. Returns how many deliveries were ended; null when there is
-- nothing to do now.
CREATE OR REPLACE FUNCTION end_deleted(most int) RETURNS int LANGUAGE plpgsql
SET search_path FROM CURRENT AS $$
DECLARE
	queue text;
	ended int;
BEGIN
	FOR queue IN SELECT webhook_id FROM webhook_queues WHERE status = 'deleted' ORDER BY webhook_id LIMIT 100 FOR UPDATE SKIP LOCKED LOOP
		UPDATE deliveries SET status = 'failed', due_at = NULL, lease_owner = NULL,
			last_error_kind = 'webhook_deleted', last_error_message = 'The webhook was deleted.',
			change_position = nextval('delivery_changes')
		WHERE id = ANY (ARRAY(
			SELECT id FROM deliveries WHERE webhook_id = queue AND status IN ('pending', 'retrying')
			ORDER BY id LIMIT most FOR UPDATE SKIP LOCKED));
		GET DIAGNOSTICS ended = ROW_COUNT;
		IF ended < most AND NOT EXISTS (
			SELECT FROM deliveries WHERE webhook_id = queue AND status IN ('pending', 'retrying')
		) THEN
			DELETE FROM webhook_queues WHERE webhook_id = queue;
			DELETE FROM webhook_pace WHERE webhook_id = queue;
			DELETE FROM webhook_health WHERE webhook_id = queue;
			DELETE FROM webhook_fences WHERE webhook_id = queue;
			RETURN ended;
		END IF;
		IF ended > 0 THEN
			RETURN ended;
		END IF;
	END LOOP;
	RETURN NULL;
END
$$;
--> statement-breakpoint
-- How far events are fanned out now: of each source everything up to `floor`, and `done` above it, of each run of positions
-- the first one and then the last one with a minus: while the floor stands still runs do not grow in number. The version
-- before knows the ends of a run alone.
CREATE OR REPLACE FUNCTION fan_out_fence() RETURNS TABLE (source text, floor bigint, done bigint[]) LANGUAGE sql STABLE
SET search_path FROM CURRENT AS $$
	WITH floors AS (SELECT source, position FROM consumer_floors WHERE consumer = 'dispatcher-delivery-fanout'),
	runs AS (
		SELECT m.source, unnest(range_agg(int8range(done.position, done.position, '[]'))) AS run
		FROM fan_out_marks m CROSS JOIN unnest(m.positions) AS done (position)
		LEFT JOIN floors ON floors.source = m.source
		WHERE done.position > coalesce(floors.position, 0)
		GROUP BY m.source),
	marks AS (
		SELECT source, array_agg(edge ORDER BY run, edge DESC) AS positions
		FROM runs CROSS JOIN unnest(ARRAY[lower(run), 1 - upper(run)]) AS edge
		GROUP BY source)
	SELECT source, coalesce(floors.position, 0), coalesce(marks.positions, '{}') FROM floors FULL JOIN marks USING (source)
$$;
