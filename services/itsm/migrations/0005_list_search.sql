-- By hand, and first, as the columns need them: the words of a row by weight, and those asked for. Both take text
-- apart at punctuation; the parser alone would keep `checkout-db-1` as one word, and make a negative number of `-1`.
CREATE FUNCTION "list_search"("names" text, "labels" text, "body" text) RETURNS tsvector
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
  SELECT setweight(to_tsvector('simple', regexp_replace(lower(unaccent('unaccent'::regdictionary, names)), '[!-/:-@\[-`{-~]+', ' ', 'g')), 'A')
    || setweight(to_tsvector('simple', regexp_replace(lower(unaccent('unaccent'::regdictionary, labels)), '[!-/:-@\[-`{-~]+', ' ', 'g')), 'B')
    || setweight(to_tsvector('simple', regexp_replace(lower(unaccent('unaccent'::regdictionary, body)), '[!-/:-@\[-`{-~]+', ' ', 'g')), 'C') $$;--> statement-breakpoint
CREATE FUNCTION "list_query"("words" text, "prefix" boolean) RETURNS tsquery
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
  SELECT CASE WHEN prefix AND numnode(query) > 0 THEN (query::text || ':*')::tsquery ELSE query END
    FROM (SELECT websearch_to_tsquery('simple', knowledge_plain(words)) AS query) parsed $$;--> statement-breakpoint
ALTER TABLE "incidents" ADD COLUMN "search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'number', '') || ' ' || coalesce(state->>'title', ''), coalesce(state->>'tags', ''), coalesce(state->>'description', ''))) STORED;--> statement-breakpoint
ALTER TABLE "configuration_items" ADD COLUMN "search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', '') || ' ' || coalesce(state->>'nativeKey', ''), coalesce(state->>'class', ''), coalesce(state->>'description', ''))) STORED;--> statement-breakpoint
ALTER TABLE "knowledge_published" ADD COLUMN "list_search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'number', '') || ' ' || coalesce(state->>'title', ''), coalesce(state->>'tags', ''), coalesce(state->>'summary', ''))) STORED;--> statement-breakpoint
ALTER TABLE "knowledge_articles" ADD COLUMN "list_search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'number', '') || ' ' || coalesce(state->>'title', ''), coalesce(state->>'tags', ''), coalesce(state->>'summary', ''))) STORED;--> statement-breakpoint
CREATE INDEX "events_creations_idx" ON "events" USING btree ("workspace_id","environment","stream_type","created_at","stream_id") WHERE version = 1;--> statement-breakpoint
CREATE INDEX "incidents_severity_idx" ON "incidents" USING btree ("workspace_id","environment","severity","created_at","id");--> statement-breakpoint
CREATE INDEX "incidents_search_idx" ON "incidents" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "incidents_unassigned_idx" ON "incidents" USING btree ("workspace_id","environment","created_at","id") WHERE "incidents"."assignee_id" is null;--> statement-breakpoint
CREATE INDEX "incidents_unrouted_idx" ON "incidents" USING btree ("workspace_id","environment","created_at","id") WHERE "incidents"."assignment_group" is null;--> statement-breakpoint
CREATE INDEX "configuration_items_criticality_idx" ON "configuration_items" USING btree ("workspace_id","environment","criticality","created_at","id");--> statement-breakpoint
CREATE INDEX "configuration_items_search_idx" ON "configuration_items" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "knowledge_published_listed_idx" ON "knowledge_published" USING gin ("workspace_id","list_search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "knowledge_articles_listed_idx" ON "knowledge_articles" USING gin ("workspace_id","list_search") WITH (fastupdate=true,gin_pending_list_limit=512);
