-- By hand, and first, as the columns need them: the words of a row by weight, and those asked for. Both take text
-- apart at punctuation; the parser alone would keep `checkout-db-1` as one word, and make a negative number of `-1`.
CREATE FUNCTION "list_search"("names" text, "labels" text, "body" text) RETURNS tsvector
  LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
BEGIN
  -- Every insert pays for this, and most have neither labels nor a body.
  RETURN setweight(to_tsvector('simple', regexp_replace(lower(unaccent('unaccent'::regdictionary, names)), '[!-/:-@\[-`{-~]+', ' ', 'g')), 'A')
    || CASE WHEN labels IN ('', '[]') THEN '' ELSE setweight(to_tsvector('simple', regexp_replace(lower(unaccent('unaccent'::regdictionary, labels)), '[!-/:-@\[-`{-~]+', ' ', 'g')), 'B') END
    || CASE WHEN body = '' THEN '' ELSE setweight(to_tsvector('simple', regexp_replace(lower(unaccent('unaccent'::regdictionary, body)), '[!-/:-@\[-`{-~]+', ' ', 'g')), 'C') END;
END $$;--> statement-breakpoint
CREATE FUNCTION "list_query"("words" text, "prefix" boolean) RETURNS tsquery
  LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path FROM CURRENT AS $$
  SELECT CASE WHEN prefix AND numnode(query) > 0 THEN (query::text || ':*')::tsquery ELSE query END
    FROM (SELECT websearch_to_tsquery('simple', knowledge_plain(words)) AS query) parsed $$;--> statement-breakpoint
CREATE TABLE "catalog_item_revisions" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"item_id" text GENERATED ALWAYS AS (state->>'itemId') STORED,
	"revision" integer GENERATED ALWAYS AS ((state->>'revision')::integer) STORED
);
--> statement-breakpoint
CREATE TABLE "catalog_items" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"category" text GENERATED ALWAYS AS (state->>'category') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"tags" jsonb GENERATED ALWAYS AS ((state->'tags')::jsonb) STORED,
	"search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', ''), coalesce(state->>'tags', '') || ' ' || coalesce(state->>'category', ''), coalesce(state->>'description', ''))) STORED
);
--> statement-breakpoint
CREATE TABLE "catalog_requests" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"number_value" integer GENERATED ALWAYS AS (substring(state->>'number' from 5)::integer) STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"item_id" text GENERATED ALWAYS AS (state->>'itemId') STORED,
	"requester_id" text GENERATED ALWAYS AS (state->>'requesterId') STORED,
	"requested_for" text GENERATED ALWAYS AS (state->>'requestedFor') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"approver_ids" jsonb GENERATED ALWAYS AS (jsonb_path_query_array((state->'approvals')::jsonb, '$[*].approverIds[*]')) STORED,
	"awaited_ids" jsonb GENERATED ALWAYS AS (jsonb_path_query_array((state->'approvals')::jsonb, '$[*] ? (@.status == "pending").approverIds[*]')) STORED,
	"decided_ids" jsonb GENERATED ALWAYS AS (jsonb_path_query_array((state->'approvals')::jsonb, '$[*] ? (@.status == "pending").decisions[*].userId')) STORED,
	"assignee_ids" jsonb GENERATED ALWAYS AS (jsonb_path_query_array((state->'tasks')::jsonb, '$[*] ? (@.status == "open" || @.status == "in_progress").assigneeId')) STORED,
	"search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'number', '') || ' ' || coalesce(state->>'itemName', ''), '', coalesce(state->>'notes', ''))) STORED
);
--> statement-breakpoint
CREATE TABLE "change_policies" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"policy_order" integer GENERATED ALWAYS AS ((state->>'order')::integer) STORED
);
--> statement-breakpoint
CREATE TABLE "changes" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"number_value" integer GENERATED ALWAYS AS (substring(state->>'number' from 5)::integer) STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"type" text GENERATED ALWAYS AS (state->>'type') STORED,
	"risk" text GENERATED ALWAYS AS (state->>'risk') STORED,
	"assignee_id" text GENERATED ALWAYS AS (state->>'assigneeId') STORED,
	"assignment_group" text GENERATED ALWAYS AS (state->>'assignmentGroup') STORED,
	"requester_id" text GENERATED ALWAYS AS (state->>'requesterId') STORED,
	"problem_id" text GENERATED ALWAYS AS (state->>'problemId') STORED,
	"planned_start" text GENERATED ALWAYS AS (state->>'plannedStart') STORED,
	"planned_end" text GENERATED ALWAYS AS (state->>'plannedEnd') STORED,
	"planned_order" text GENERATED ALWAYS AS (coalesce(state->>'plannedStart', '9999')) STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"ci_ids" jsonb GENERATED ALWAYS AS ((state->'ciIds')::jsonb) STORED,
	"search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'number', '') || ' ' || coalesce(state->>'title', ''), '', coalesce(state->>'description', ''))) STORED
);
--> statement-breakpoint
CREATE TABLE "change_windows" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"kind" text GENERATED ALWAYS AS (state->>'kind') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"starts_at" text GENERATED ALWAYS AS (state->>'startsAt') STORED,
	"ends_at" text GENERATED ALWAYS AS (state->>'endsAt') STORED
);
--> statement-breakpoint
CREATE TABLE "problems" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"number_value" integer GENERATED ALWAYS AS (substring(state->>'number' from 5)::integer) STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"priority" text GENERATED ALWAYS AS (state->>'priority') STORED,
	"assignee_id" text GENERATED ALWAYS AS (state->>'assigneeId') STORED,
	"assignment_group" text GENERATED ALWAYS AS (state->>'assignmentGroup') STORED,
	"known_error" boolean GENERATED ALWAYS AS ((state->>'knownError')::boolean) STORED,
	"ci_ids" jsonb GENERATED ALWAYS AS ((state->'ciIds')::jsonb) STORED,
	"tags" jsonb GENERATED ALWAYS AS ((state->'tags')::jsonb) STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'number', '') || ' ' || coalesce(state->>'title', ''), coalesce(state->>'tags', '') || ' ' || coalesce(state->>'category', ''), coalesce(state->>'description', ''))) STORED
);
--> statement-breakpoint
CREATE TABLE "itsm_settings" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
ALTER TABLE "incidents" ADD COLUMN "priority" text GENERATED ALWAYS AS (coalesce(state->>'priority', 'P3')) STORED,
	ADD COLUMN "impact" text GENERATED ALWAYS AS (coalesce(state->>'impact', 'medium')) STORED,
	ADD COLUMN "urgency" text GENERATED ALWAYS AS (coalesce(state->>'urgency', 'medium')) STORED,
	ADD COLUMN "parent_id" text GENERATED ALWAYS AS (state->>'parentId') STORED,
	ADD COLUMN "problem_id" text GENERATED ALWAYS AS (state->>'problemId') STORED,
	ADD COLUMN "change_id" text GENERATED ALWAYS AS (state->>'changeId') STORED,
	ADD COLUMN "major_state" text GENERATED ALWAYS AS (coalesce(state->>'majorState', 'none')) STORED,
	ADD COLUMN "resolution_code" text GENERATED ALWAYS AS (state->>'resolutionCode') STORED,
	ADD COLUMN "dedup_key" text GENERATED ALWAYS AS (state->>'dedupKey') STORED,
	ADD COLUMN "search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'number', '') || ' ' || coalesce(state->>'title', ''), coalesce(state->>'tags', ''), coalesce(state->>'description', ''))) STORED;
--> statement-breakpoint
ALTER TABLE "configuration_items" ADD COLUMN "search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', '') || ' ' || coalesce(state->>'nativeKey', ''), coalesce(state->>'class', ''), coalesce(state->>'description', ''))) STORED;
--> statement-breakpoint
ALTER TABLE "sla_timers" ADD COLUMN "entity_type" text GENERATED ALWAYS AS (state->>'entityType') STORED,
	ADD COLUMN "breached" text GENERATED ALWAYS AS (state->>'breached') STORED,
	ADD COLUMN "due_order" text GENERATED ALWAYS AS (coalesce(state->>'dueAt', 'unknown')) STORED;
--> statement-breakpoint
ALTER TABLE "knowledge_published" ADD COLUMN "list_search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'number', '') || ' ' || coalesce(state->>'title', ''), coalesce(state->>'tags', ''), coalesce(state->>'summary', ''))) STORED;
--> statement-breakpoint
ALTER TABLE "knowledge_articles" ADD COLUMN "list_search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'number', '') || ' ' || coalesce(state->>'title', ''), coalesce(state->>'tags', ''), coalesce(state->>'summary', ''))) STORED;
--> statement-breakpoint
CREATE INDEX "catalog_items_created_idx" ON "catalog_items" USING btree ("workspace_id","environment","created_at","id");
--> statement-breakpoint
CREATE INDEX "catalog_items_name_idx" ON "catalog_items" USING btree ("workspace_id","environment","name","id");
--> statement-breakpoint
CREATE INDEX "catalog_items_updated_idx" ON "catalog_items" USING btree ("workspace_id","environment","updated_at","id");
--> statement-breakpoint
CREATE INDEX "catalog_items_status_idx" ON "catalog_items" USING btree ("workspace_id","environment","status","created_at","id");
--> statement-breakpoint
CREATE INDEX "catalog_items_category_idx" ON "catalog_items" USING btree ("workspace_id","environment","category","created_at","id");
--> statement-breakpoint
CREATE INDEX "catalog_items_search_idx" ON "catalog_items" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);
--> statement-breakpoint
CREATE INDEX "catalog_items_tags_idx" ON "catalog_items" USING gin ("workspace_id","environment","tags");
--> statement-breakpoint
CREATE UNIQUE INDEX "catalog_requests_number_key" ON "catalog_requests" USING btree ("workspace_id","number_value");
--> statement-breakpoint
CREATE INDEX "catalog_requests_created_idx" ON "catalog_requests" USING btree ("workspace_id","environment","created_at","id");
--> statement-breakpoint
CREATE INDEX "catalog_requests_updated_idx" ON "catalog_requests" USING btree ("workspace_id","environment","updated_at","id");
--> statement-breakpoint
CREATE INDEX "catalog_requests_status_idx" ON "catalog_requests" USING btree ("workspace_id","environment","status","created_at","id");
--> statement-breakpoint
CREATE INDEX "catalog_requests_item_idx" ON "catalog_requests" USING btree ("workspace_id","environment","item_id","created_at","id");
--> statement-breakpoint
CREATE INDEX "catalog_requests_requester_idx" ON "catalog_requests" USING btree ("workspace_id","environment","requester_id","created_at","id");
--> statement-breakpoint
CREATE INDEX "catalog_requests_for_idx" ON "catalog_requests" USING btree ("workspace_id","environment","requested_for","created_at","id");
--> statement-breakpoint
CREATE INDEX "catalog_requests_search_idx" ON "catalog_requests" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);
--> statement-breakpoint
CREATE INDEX "catalog_requests_approver_idx" ON "catalog_requests" USING gin ("workspace_id","environment","approver_ids");
--> statement-breakpoint
CREATE INDEX "catalog_requests_awaited_idx" ON "catalog_requests" USING gin ("workspace_id","environment","awaited_ids") WHERE status = 'awaiting_approval';
--> statement-breakpoint
CREATE INDEX "catalog_requests_assignee_idx" ON "catalog_requests" USING gin ("workspace_id","environment","assignee_ids") WHERE status = 'fulfilling';
--> statement-breakpoint
CREATE INDEX "change_policies_created_idx" ON "change_policies" USING btree ("workspace_id","environment","created_at","id");
--> statement-breakpoint
CREATE INDEX "change_policies_order_idx" ON "change_policies" USING btree ("workspace_id","environment","policy_order","id");
--> statement-breakpoint
CREATE UNIQUE INDEX "changes_number_key" ON "changes" USING btree ("workspace_id","number_value");
--> statement-breakpoint
CREATE INDEX "changes_created_idx" ON "changes" USING btree ("workspace_id","environment","created_at","id");
--> statement-breakpoint
CREATE INDEX "changes_updated_idx" ON "changes" USING btree ("workspace_id","environment","updated_at","id");
--> statement-breakpoint
CREATE INDEX "changes_planned_idx" ON "changes" USING btree ("workspace_id","environment","planned_order","id");
--> statement-breakpoint
CREATE INDEX "changes_status_idx" ON "changes" USING btree ("workspace_id","environment","status","created_at","id");
--> statement-breakpoint
CREATE INDEX "changes_type_idx" ON "changes" USING btree ("workspace_id","environment","type","created_at","id");
--> statement-breakpoint
CREATE INDEX "changes_risk_idx" ON "changes" USING btree ("workspace_id","environment","risk","created_at","id");
--> statement-breakpoint
CREATE INDEX "changes_search_idx" ON "changes" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);
--> statement-breakpoint
CREATE INDEX "changes_assignee_idx" ON "changes" USING btree ("workspace_id","environment","assignee_id","created_at","id") WHERE "changes"."assignee_id" is not null;
--> statement-breakpoint
CREATE INDEX "changes_group_idx" ON "changes" USING btree ("workspace_id","environment","assignment_group","created_at","id") WHERE "changes"."assignment_group" is not null;
--> statement-breakpoint
CREATE INDEX "changes_requester_idx" ON "changes" USING btree ("workspace_id","environment","requester_id","created_at","id");
--> statement-breakpoint
CREATE INDEX "changes_problem_idx" ON "changes" USING btree ("workspace_id","environment","problem_id","created_at","id") WHERE "changes"."problem_id" is not null;
--> statement-breakpoint
CREATE INDEX "changes_ci_idx" ON "changes" USING gin ("ci_ids");
--> statement-breakpoint
CREATE INDEX "change_windows_created_idx" ON "change_windows" USING btree ("workspace_id","environment","created_at","id");
--> statement-breakpoint
CREATE INDEX "change_windows_kind_idx" ON "change_windows" USING btree ("workspace_id","environment","kind","created_at","id");
--> statement-breakpoint
CREATE UNIQUE INDEX "problems_number_key" ON "problems" USING btree ("workspace_id","number_value");
--> statement-breakpoint
CREATE INDEX "problems_created_idx" ON "problems" USING btree ("workspace_id","environment","created_at","id");
--> statement-breakpoint
CREATE INDEX "problems_updated_idx" ON "problems" USING btree ("workspace_id","environment","updated_at","id");
--> statement-breakpoint
CREATE INDEX "problems_status_idx" ON "problems" USING btree ("workspace_id","environment","status","created_at","id");
--> statement-breakpoint
CREATE INDEX "problems_priority_idx" ON "problems" USING btree ("workspace_id","environment","priority","created_at","id");
--> statement-breakpoint
CREATE INDEX "problems_search_idx" ON "problems" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);
--> statement-breakpoint
CREATE INDEX "problems_assignee_idx" ON "problems" USING btree ("workspace_id","environment","assignee_id","created_at","id") WHERE "problems"."assignee_id" is not null;
--> statement-breakpoint
CREATE INDEX "problems_group_idx" ON "problems" USING btree ("workspace_id","environment","assignment_group","created_at","id") WHERE "problems"."assignment_group" is not null;
--> statement-breakpoint
CREATE INDEX "problems_known_error_idx" ON "problems" USING btree ("workspace_id","environment","created_at","id") WHERE known_error;
--> statement-breakpoint
CREATE INDEX "problems_ci_idx" ON "problems" USING gin ("workspace_id","environment","ci_ids");
--> statement-breakpoint
CREATE INDEX "problems_tag_idx" ON "problems" USING gin ("workspace_id","environment","tags");
--> statement-breakpoint
CREATE INDEX "events_creations_idx" ON "events" USING btree ("workspace_id","environment","stream_type","created_at","stream_id") WHERE version = 1;
--> statement-breakpoint
CREATE INDEX "incidents_severity_idx" ON "incidents" USING btree ("workspace_id","environment","severity","created_at","id");
--> statement-breakpoint
CREATE INDEX "incidents_search_idx" ON "incidents" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);
--> statement-breakpoint
CREATE INDEX "incidents_auto_close_idx" ON "incidents" USING btree ("workspace_id","environment",(state->>'resolvedAt'),"id") WHERE status = 'resolved' and major_state is distinct from 'accepted';
--> statement-breakpoint
CREATE INDEX "incidents_unassigned_idx" ON "incidents" USING btree ("workspace_id","environment","created_at","id") WHERE "incidents"."assignee_id" is null;
--> statement-breakpoint
CREATE INDEX "incidents_unrouted_idx" ON "incidents" USING btree ("workspace_id","environment","created_at","id") WHERE "incidents"."assignment_group" is null;
--> statement-breakpoint
CREATE INDEX "incidents_priority_idx" ON "incidents" USING btree ("workspace_id","environment","priority","created_at","id");
--> statement-breakpoint
CREATE INDEX "incidents_impact_idx" ON "incidents" USING btree ("workspace_id","environment","impact","created_at","id");
--> statement-breakpoint
CREATE INDEX "incidents_urgency_idx" ON "incidents" USING btree ("workspace_id","environment","urgency","created_at","id");
--> statement-breakpoint
CREATE INDEX "incidents_parent_idx" ON "incidents" USING btree ("workspace_id","environment","parent_id","created_at","id") WHERE "incidents"."parent_id" is not null;
--> statement-breakpoint
CREATE INDEX "incidents_problem_idx" ON "incidents" USING btree ("workspace_id","environment","problem_id","created_at","id") WHERE "incidents"."problem_id" is not null;
--> statement-breakpoint
CREATE INDEX "incidents_change_idx" ON "incidents" USING btree ("workspace_id","environment","change_id","created_at","id") WHERE "incidents"."change_id" is not null;
--> statement-breakpoint
CREATE INDEX "incidents_resolution_idx" ON "incidents" USING btree ("workspace_id","environment","resolution_code","created_at","id") WHERE "incidents"."resolution_code" is not null;
--> statement-breakpoint
CREATE INDEX "incidents_alert_idx" ON "incidents" USING btree ("workspace_id","environment","dedup_key","created_at","id") WHERE "incidents"."dedup_key" is not null;
--> statement-breakpoint
CREATE INDEX "incidents_major_idx" ON "incidents" USING btree ("workspace_id","environment","major_state","created_at","id") WHERE major_state <> 'none';
--> statement-breakpoint
CREATE UNIQUE INDEX "incidents_dedup_key" ON "incidents" USING btree ("workspace_id","environment","dedup_key") WHERE dedup_key is not null and status in ('open', 'in_progress', 'on_hold');
--> statement-breakpoint
CREATE INDEX "incidents_watchers_idx" ON "incidents" USING gin ("workspace_id","environment",((state->'watcherIds')::jsonb) jsonb_path_ops) WITH (fastupdate=false) WHERE state->>'watcherIds' <> '[]';
--> statement-breakpoint
CREATE INDEX "incidents_tags_idx" ON "incidents" USING gin ("workspace_id","environment",((state->'tags')::jsonb) jsonb_path_ops) WITH (fastupdate=false) WHERE state->>'tags' <> '[]';
--> statement-breakpoint
CREATE INDEX "configuration_items_criticality_idx" ON "configuration_items" USING btree ("workspace_id","environment","criticality","created_at","id");
--> statement-breakpoint
CREATE INDEX "configuration_items_search_idx" ON "configuration_items" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);
--> statement-breakpoint
CREATE INDEX "sla_timers_created_idx" ON "sla_timers" USING btree ("workspace_id","environment","created_at","id");
--> statement-breakpoint
CREATE INDEX "sla_timers_due_idx" ON "sla_timers" USING btree ("workspace_id","environment","due_order","id");
--> statement-breakpoint
CREATE INDEX "sla_timers_state_idx" ON "sla_timers" USING btree ("workspace_id","environment","clock_state","due_order","id");
--> statement-breakpoint
CREATE INDEX "knowledge_published_listed_idx" ON "knowledge_published" USING gin ("workspace_id","list_search") WITH (fastupdate=true,gin_pending_list_limit=512);
--> statement-breakpoint
CREATE INDEX "knowledge_articles_listed_idx" ON "knowledge_articles" USING gin ("workspace_id","list_search") WITH (fastupdate=true,gin_pending_list_limit=512);
--> statement-breakpoint
-- By hand:
CREATE EXTENSION IF NOT EXISTS btree_gist;--> statement-breakpoint
-- An index takes immutable functions only; this one is, as every instant that is kept is in UTC. Null is without end,
-- and so is what lies beyond the years Postgres reads in this form.
CREATE FUNCTION "planned_span"("starts" text, "ends" text) RETURNS tstzrange LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN s >= e THEN 'empty'::tstzrange ELSE tstzrange(s, e) END
  FROM (SELECT
    CASE WHEN starts LIKE '+%' THEN 'infinity'::timestamptz WHEN starts ~ '^[1-9]' THEN starts::timestamptz END AS s,
    CASE WHEN ends LIKE '+%' THEN NULL WHEN ends ~ '^[1-9]' THEN ends::timestamptz
         WHEN ends IS NOT NULL THEN '-infinity'::timestamptz END AS e) AS instants $$;--> statement-breakpoint
CREATE INDEX "change_windows_time_idx" ON "change_windows" USING gist ("workspace_id","environment","status",planned_span("starts_at","ends_at"));--> statement-breakpoint
CREATE INDEX "changes_time_idx" ON "changes" USING gist ("workspace_id","environment",planned_span("planned_start","planned_end")) WHERE planned_start IS NOT NULL;
--> statement-breakpoint
-- Incidents from before these fields get their defaults, which is what reading and rebuilding make of them too.
UPDATE "incidents" SET "state" = ('{"impact":"medium","urgency":"medium","priority":"P3","priorityOverride":null,"parentId":null,"childCount":0,"problemId":null,"changeId":null,"causedByChangeId":null,"watcherIds":[],"majorState":"none","dedupKey":null,"alertCount":0,"lastAlertAt":null}'::jsonb || "state"::jsonb)::json WHERE "state"->>'alertCount' IS NULL;
--> statement-breakpoint
UPDATE "incidents" SET "state" = ('{"followsParent":false,"majorProposal":null,"postIncidentReview":null}'::jsonb || "state"::jsonb)::json WHERE "state"->>'followsParent' IS NULL;
