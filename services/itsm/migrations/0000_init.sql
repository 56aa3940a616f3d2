-- Written by hand, and first, as columns and indexes need them: drizzle-kit knows neither extensions nor functions.
CREATE EXTENSION IF NOT EXISTS pg_trgm;--> statement-breakpoint
CREATE EXTENSION IF NOT EXISTS btree_gin;--> statement-breakpoint
CREATE EXTENSION IF NOT EXISTS btree_gist;--> statement-breakpoint
CREATE EXTENSION IF NOT EXISTS unaccent;--> statement-breakpoint
-- Where somebody has installed them before they are in a schema of their own, which only this transaction has to see.
SELECT set_config('search_path', current_setting('search_path') || ',' || string_agg(DISTINCT quote_ident(n.nspname), ','), true)
  FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname IN ('pg_trgm', 'btree_gin', 'btree_gist', 'unaccent');--> statement-breakpoint
-- Generated columns take immutable functions only; these are, as long as dictionaries stay as they are. The
-- search path is kept, so that a restored dump, which sets none, computes the columns all the same.
CREATE FUNCTION "knowledge_plain"("value" text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
  SET search_path FROM CURRENT AS $$ SELECT lower(unaccent('unaccent'::regdictionary, value)) $$;--> statement-breakpoint
CREATE FUNCTION "knowledge_config"("language" text) RETURNS regconfig LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE language
    WHEN 'da' THEN 'danish'::regconfig WHEN 'de' THEN 'german'::regconfig WHEN 'en' THEN 'english'::regconfig
    WHEN 'es' THEN 'spanish'::regconfig WHEN 'fi' THEN 'finnish'::regconfig WHEN 'fr' THEN 'french'::regconfig
    WHEN 'it' THEN 'italian'::regconfig WHEN 'nl' THEN 'dutch'::regconfig WHEN 'no' THEN 'norwegian'::regconfig
    WHEN 'pt' THEN 'portuguese'::regconfig WHEN 'ru' THEN 'russian'::regconfig WHEN 'sv' THEN 'swedish'::regconfig
    ELSE 'simple'::regconfig END $$;--> statement-breakpoint
CREATE FUNCTION "knowledge_tsvector"("language" text, "title" text, "about" text, "body" text) RETURNS tsvector
  LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
  SELECT setweight(to_tsvector(knowledge_config(language), knowledge_plain(title)), 'A')
    || setweight(to_tsvector(knowledge_config(language), knowledge_plain(about)), 'B')
    || setweight(to_tsvector(knowledge_config(language), knowledge_plain(body)), 'C') $$;--> statement-breakpoint
-- The words of a row by weight, and those asked for. Both take text
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
-- An index takes immutable functions only; this one is, as every instant that is kept is in UTC. Null is without end,
-- and so is what lies beyond the years Postgres reads in this form.
CREATE FUNCTION "planned_span"("starts" text, "ends" text) RETURNS tstzrange LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN s >= e THEN 'empty'::tstzrange ELSE tstzrange(s, e) END
  FROM (SELECT
    CASE WHEN starts LIKE '+%' THEN 'infinity'::timestamptz WHEN starts ~ '^[1-9]' THEN starts::timestamptz END AS s,
    CASE WHEN ends LIKE '+%' THEN NULL WHEN ends ~ '^[1-9]' THEN ends::timestamptz
         WHEN ends IS NOT NULL THEN '-infinity'::timestamptz END AS e) AS instants $$;--> statement-breakpoint
-- Of an instant in the form states keep it in; null for what is beyond the years Postgres reads in this form.
CREATE FUNCTION "due_instant"("at" text, "after_ms" int) RETURNS timestamptz LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN at ~ '^[0-9]' THEN at::timestamptz + after_ms * interval '1 ms' END $$;--> statement-breakpoint
-- Written by drizzle-kit, but that foreign keys are deferred.
CREATE TABLE "ci_classes" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', ''), coalesce(state->>'label', ''), '')) STORED
);
--> statement-breakpoint
CREATE TABLE "ci_relations" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"source_id" text GENERATED ALWAYS AS (state->>'sourceId') STORED,
	"target_id" text GENERATED ALWAYS AS (state->>'targetId') STORED,
	"type" text GENERATED ALWAYS AS (state->>'type') STORED
);
--> statement-breakpoint
CREATE TABLE "configuration_items" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"class" text GENERATED ALWAYS AS (state->>'class') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"criticality" text GENERATED ALWAYS AS (state->>'criticality') STORED,
	"owner" text GENERATED ALWAYS AS (state->>'owner') STORED,
	"support_group" text GENERATED ALWAYS AS (state->>'supportGroup') STORED,
	"source" text GENERATED ALWAYS AS (state->>'source') STORED,
	"native_key" text GENERATED ALWAYS AS (state->>'nativeKey') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"redundancy" text GENERATED ALWAYS AS (state->>'redundancy') STORED,
	"search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', '') || ' ' || coalesce(state->>'nativeKey', ''), coalesce(state->>'class', ''), coalesce(state->>'description', ''))) STORED
);
--> statement-breakpoint
CREATE TABLE "incident_comments" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"incident_id" text GENERATED ALWAYS AS (state->>'incidentId') STORED,
	"visibility" text GENERATED ALWAYS AS (state->>'visibility') STORED,
	"search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'body', ''), '', '')) STORED
);
--> statement-breakpoint
CREATE TABLE "incidents" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"number_value" integer GENERATED ALWAYS AS (substring(state->>'number' from 5)::integer) STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"severity" text GENERATED ALWAYS AS (state->>'severity') STORED,
	"assignee_id" text GENERATED ALWAYS AS (state->>'assigneeId') STORED,
	"assignment_group" text GENERATED ALWAYS AS (state->>'assignmentGroup') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"priority" text GENERATED ALWAYS AS (coalesce(state->>'priority', 'P3')) STORED,
	"impact" text GENERATED ALWAYS AS (coalesce(state->>'impact', 'medium')) STORED,
	"urgency" text GENERATED ALWAYS AS (coalesce(state->>'urgency', 'medium')) STORED,
	"parent_id" text GENERATED ALWAYS AS (state->>'parentId') STORED,
	"problem_id" text GENERATED ALWAYS AS (state->>'problemId') STORED,
	"change_id" text GENERATED ALWAYS AS (state->>'changeId') STORED,
	"major_state" text GENERATED ALWAYS AS (coalesce(state->>'majorState', 'none')) STORED,
	"resolution_code" text GENERATED ALWAYS AS (state->>'resolutionCode') STORED,
	"dedup_key" text GENERATED ALWAYS AS (state->>'dedupKey') STORED,
	"ci_id" text GENERATED ALWAYS AS (state->>'ciId') STORED,
	"caller_id" text GENERATED ALWAYS AS (state->>'callerId') STORED,
	"category" text GENERATED ALWAYS AS (state->>'category') STORED,
	"channel" text GENERATED ALWAYS AS (state->>'channel') STORED,
	"by_priority" text GENERATED ALWAYS AS (case state->>'priority' when 'P1' then '1 ' when 'P2' then '2 ' when 'P3' then '3 ' when 'P4' then '4 ' when 'P5' then '5 ' else '3 ' end || (state->>'createdAt')) STORED,
	"by_severity" text GENERATED ALWAYS AS (case state->>'severity' when 'critical' then '1 ' when 'high' then '2 ' when 'medium' then '3 ' when 'low' then '4 ' else '4 ' end || (state->>'createdAt')) STORED,
	"search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'number', '') || ' ' || coalesce(state->>'title', ''), coalesce(state->>'tags', ''), coalesce(state->>'description', ''))) STORED,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text
);
--> statement-breakpoint
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
	"policy_order" integer GENERATED ALWAYS AS ((state->>'order')::integer) STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', ''), '', '')) STORED
);
--> statement-breakpoint
CREATE TABLE "change_templates" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', '') || ' ' || coalesce(state->>'title', ''), '', coalesce(state->>'description', ''))) STORED
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
	"template_id" text GENERATED ALWAYS AS (state->>'templateId') STORED,
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
	"ends_at" text GENERATED ALWAYS AS (state->>'endsAt') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', ''), '', coalesce(state->>'reason', ''))) STORED
);
--> statement-breakpoint
CREATE TABLE "knowledge_articles" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"number_value" integer GENERATED ALWAYS AS (substring(state->>'number' from 4)::integer) STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"category" text GENERATED ALWAYS AS (state->>'category') STORED,
	"language" text GENERATED ALWAYS AS (state->>'language') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"tags" jsonb GENERATED ALWAYS AS ((state->'tags')::jsonb) STORED,
	"list_search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'number', '') || ' ' || coalesce(state->>'title', ''), coalesce(state->>'tags', ''), coalesce(state->>'summary', ''))) STORED,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text
);
--> statement-breakpoint
CREATE TABLE "knowledge_chunks" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"article_id" text NOT NULL,
	"source_version" integer NOT NULL,
	"model" text NOT NULL,
	"content" text NOT NULL,
	"content_hash" text NOT NULL,
	"vector" "bytea",
	"due_at" timestamp with time zone NOT NULL,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"lease_owner" text,
	"lease_fence" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "knowledge_published" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"number" text GENERATED ALWAYS AS (state->>'number') STORED,
	"number_value" integer GENERATED ALWAYS AS (substring(state->>'number' from 4)::integer) STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"category" text GENERATED ALWAYS AS (state->>'category') STORED,
	"language" text GENERATED ALWAYS AS (state->>'language') STORED,
	"visibility" text GENERATED ALWAYS AS (state->>'visibility') STORED,
	"valid_until" text GENERATED ALWAYS AS (state->>'validUntil') STORED,
	"published_at" text GENERATED ALWAYS AS (state->>'publishedAt') STORED,
	"tags" jsonb GENERATED ALWAYS AS ((state->'tags')::jsonb) STORED,
	"codes" jsonb GENERATED ALWAYS AS ((state->'codes')::jsonb) STORED,
	"search" "tsvector" GENERATED ALWAYS AS (knowledge_tsvector(state->>'language', state->>'title', coalesce(state->>'summary', '') || ' ' || (state->>'tags'), state->>'body')) STORED,
	"list_search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'number', '') || ' ' || coalesce(state->>'title', ''), coalesce(state->>'tags', ''), coalesce(state->>'summary', ''))) STORED,
	"fuzzy" text GENERATED ALWAYS AS (knowledge_plain((state->>'title') || ' ' || coalesce(state->>'summary', '') || ' ' || (state->>'tags') || ' ' || (state->>'codes'))) STORED
);
--> statement-breakpoint
CREATE TABLE "knowledge_versions" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"article_id" text GENERATED ALWAYS AS (state->>'articleId') STORED,
	"article_version" integer GENERATED ALWAYS AS ((state->>'articleVersion')::integer) STORED,
	"list_search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'number', '') || ' ' || coalesce(state->>'title', ''), coalesce(state->>'tags', ''), coalesce(state->>'summary', ''))) STORED
);
--> statement-breakpoint
CREATE TABLE "knowledge_votes" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"article_id" text GENERATED ALWAYS AS (state->>'articleId') STORED,
	"helpful" text GENERATED ALWAYS AS (state->>'helpful') STORED
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
	"change_ids" jsonb GENERATED ALWAYS AS ((state->'changeIds')::jsonb) STORED,
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
CREATE TABLE "incident_sla_breaches" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE TABLE "sla_calendar_revisions" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE TABLE "sla_calendars" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"time_zone" text GENERATED ALWAYS AS (state->>'timeZone') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', ''), coalesce(state->>'timeZone', ''), '')) STORED
);
--> statement-breakpoint
CREATE TABLE "sla_policies" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"entity_type" text GENERATED ALWAYS AS (state->>'entityType') STORED,
	"metric" text GENERATED ALWAYS AS (state->>'metric') STORED,
	"calendar_id" text GENERATED ALWAYS AS (state->>'calendarId') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED,
	"search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'name', ''), '', '')) STORED
);
--> statement-breakpoint
CREATE TABLE "sla_policy_revisions" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE TABLE "sla_progress" (
	"incident_id" text PRIMARY KEY NOT NULL,
	"version" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sla_timers" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"incident_id" text GENERATED ALWAYS AS (state->>'entityId') STORED,
	"entity_type" text GENERATED ALWAYS AS (state->>'entityType') STORED,
	"breached" text GENERATED ALWAYS AS (state->>'breached') STORED,
	"policy_id" text GENERATED ALWAYS AS (state->>'policyId') STORED,
	"metric" text GENERATED ALWAYS AS (state->>'metric') STORED,
	"cycle" integer GENERATED ALWAYS AS ((state->>'cycle')::integer) STORED,
	"clock_state" text GENERATED ALWAYS AS (state->>'state') STORED,
	"due_at" text GENERATED ALWAYS AS (state->>'dueAt') STORED,
	"next_fire_at" text GENERATED ALWAYS AS (state->>'nextFireAt') STORED,
	"due_order" text GENERATED ALWAYS AS (coalesce(state->>'dueAt', 'unknown')) STORED,
	"search" "tsvector" GENERATED ALWAYS AS (list_search(coalesce(state->>'entityNumber', ''), coalesce(state->>'policyName', ''), '')) STORED,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text
);
--> statement-breakpoint
ALTER TABLE "ci_relations" ADD CONSTRAINT "ci_relations_source_fkey" FOREIGN KEY ("source_id") REFERENCES "configuration_items"("id") DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
ALTER TABLE "ci_relations" ADD CONSTRAINT "ci_relations_target_fkey" FOREIGN KEY ("target_id") REFERENCES "configuration_items"("id") DEFERRABLE INITIALLY DEFERRED;--> statement-breakpoint
CREATE UNIQUE INDEX "ci_classes_name_key" ON "ci_classes" USING btree ("workspace_id","environment","name");--> statement-breakpoint
CREATE INDEX "ci_classes_search_idx" ON "ci_classes" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE UNIQUE INDEX "ci_relations_key" ON "ci_relations" USING btree ("source_id","type","target_id");--> statement-breakpoint
CREATE INDEX "ci_relations_target_idx" ON "ci_relations" USING btree ("target_id","type");--> statement-breakpoint
CREATE INDEX "ci_relations_created_idx" ON "ci_relations" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "ci_relations_type_idx" ON "ci_relations" USING btree ("workspace_id","environment","type","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "configuration_items_source_key" ON "configuration_items" USING btree ("workspace_id","environment","source","native_key") WHERE "configuration_items"."source" is not null;--> statement-breakpoint
CREATE INDEX "configuration_items_created_idx" ON "configuration_items" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "configuration_items_updated_idx" ON "configuration_items" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "configuration_items_name_idx" ON "configuration_items" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "configuration_items_class_idx" ON "configuration_items" USING btree ("workspace_id","environment","class","created_at","id");--> statement-breakpoint
CREATE INDEX "configuration_items_status_idx" ON "configuration_items" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "configuration_items_criticality_idx" ON "configuration_items" USING btree ("workspace_id","environment","criticality","created_at","id");--> statement-breakpoint
CREATE INDEX "configuration_items_owner_idx" ON "configuration_items" USING btree ("workspace_id","environment","owner","created_at","id") WHERE "configuration_items"."owner" is not null;--> statement-breakpoint
CREATE INDEX "configuration_items_group_idx" ON "configuration_items" USING btree ("workspace_id","environment","support_group","created_at","id") WHERE "configuration_items"."support_group" is not null;--> statement-breakpoint
CREATE INDEX "configuration_items_search_idx" ON "configuration_items" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "configuration_items_name_text_idx" ON "configuration_items" USING gin ("workspace_id","environment","name" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "incident_comments_incident_idx" ON "incident_comments" USING btree ("workspace_id","environment","incident_id","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "incidents_number_key" ON "incidents" USING btree ("workspace_id","number_value");--> statement-breakpoint
CREATE INDEX "incidents_created_idx" ON "incidents" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "incidents_updated_idx" ON "incidents" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "incidents_status_idx" ON "incidents" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "incidents_severity_idx" ON "incidents" USING btree ("workspace_id","environment","severity","created_at","id");--> statement-breakpoint
CREATE INDEX "incidents_search_idx" ON "incidents" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "incidents_assignee_idx" ON "incidents" USING btree ("workspace_id","environment","assignee_id","created_at","id") WHERE "incidents"."assignee_id" is not null;--> statement-breakpoint
CREATE INDEX "incidents_group_idx" ON "incidents" USING btree ("workspace_id","environment","assignment_group","created_at","id") WHERE "incidents"."assignment_group" is not null;--> statement-breakpoint
CREATE INDEX "incidents_auto_close_idx" ON "incidents" USING btree ("workspace_id","environment",(state->>'resolvedAt'),"id") WHERE status = 'resolved' and major_state is distinct from 'accepted';--> statement-breakpoint
CREATE INDEX "incidents_unassigned_idx" ON "incidents" USING btree ("workspace_id","environment","created_at","id") WHERE "incidents"."assignee_id" is null;--> statement-breakpoint
CREATE INDEX "incidents_unrouted_idx" ON "incidents" USING btree ("workspace_id","environment","created_at","id") WHERE "incidents"."assignment_group" is null;--> statement-breakpoint
CREATE INDEX "incidents_ci_idx" ON "incidents" USING btree ("workspace_id","environment",(state->>'ciId')) WHERE state->>'ciId' is not null and status in ('open', 'in_progress', 'on_hold');--> statement-breakpoint
CREATE INDEX "incidents_priority_idx" ON "incidents" USING btree ("workspace_id","environment","priority","created_at","id");--> statement-breakpoint
CREATE INDEX "incidents_impact_idx" ON "incidents" USING btree ("workspace_id","environment","impact","created_at","id");--> statement-breakpoint
CREATE INDEX "incidents_urgency_idx" ON "incidents" USING btree ("workspace_id","environment","urgency","created_at","id");--> statement-breakpoint
CREATE INDEX "incidents_parent_idx" ON "incidents" USING btree ("workspace_id","environment","parent_id","created_at","id") WHERE "incidents"."parent_id" is not null;--> statement-breakpoint
CREATE INDEX "incidents_problem_idx" ON "incidents" USING btree ("workspace_id","environment","problem_id","created_at","id") WHERE "incidents"."problem_id" is not null;--> statement-breakpoint
CREATE INDEX "incidents_change_idx" ON "incidents" USING btree ("workspace_id","environment","change_id","created_at","id") WHERE "incidents"."change_id" is not null;--> statement-breakpoint
CREATE INDEX "incidents_resolution_idx" ON "incidents" USING btree ("workspace_id","environment","resolution_code","created_at","id") WHERE "incidents"."resolution_code" is not null;--> statement-breakpoint
CREATE INDEX "incidents_alert_idx" ON "incidents" USING btree ("workspace_id","environment","dedup_key","created_at","id") WHERE "incidents"."dedup_key" is not null;--> statement-breakpoint
CREATE INDEX "incidents_item_idx" ON "incidents" USING btree ("workspace_id","environment","ci_id","created_at","id") WHERE "incidents"."ci_id" is not null;--> statement-breakpoint
CREATE INDEX "incidents_caller_idx" ON "incidents" USING btree ("workspace_id","environment","caller_id","created_at","id") WHERE "incidents"."caller_id" is not null;--> statement-breakpoint
CREATE INDEX "incidents_category_idx" ON "incidents" USING btree ("workspace_id","environment","category","created_at","id") WHERE "incidents"."category" is not null;--> statement-breakpoint
CREATE INDEX "incidents_channel_idx" ON "incidents" USING btree ("workspace_id","environment","channel","created_at","id") WHERE "incidents"."channel" is not null;--> statement-breakpoint
CREATE INDEX "incidents_status_priority_idx" ON "incidents" USING btree ("workspace_id","environment","status","by_priority","id");--> statement-breakpoint
CREATE INDEX "incidents_assignee_priority_idx" ON "incidents" USING btree ("workspace_id","environment","assignee_id","status","by_priority","id") WHERE "incidents"."assignee_id" is not null;--> statement-breakpoint
CREATE INDEX "incidents_group_priority_idx" ON "incidents" USING btree ("workspace_id","environment","assignment_group","status","by_priority","id") WHERE "incidents"."assignment_group" is not null;--> statement-breakpoint
CREATE INDEX "incidents_status_severity_idx" ON "incidents" USING btree ("workspace_id","environment","status","by_severity","id");--> statement-breakpoint
CREATE INDEX "incidents_assignee_severity_idx" ON "incidents" USING btree ("workspace_id","environment","assignee_id","status","by_severity","id") WHERE "incidents"."assignee_id" is not null;--> statement-breakpoint
CREATE INDEX "incidents_group_severity_idx" ON "incidents" USING btree ("workspace_id","environment","assignment_group","status","by_severity","id") WHERE "incidents"."assignment_group" is not null;--> statement-breakpoint
CREATE INDEX "incidents_major_idx" ON "incidents" USING btree ("workspace_id","environment","major_state","created_at","id") WHERE major_state <> 'none';--> statement-breakpoint
CREATE UNIQUE INDEX "incidents_dedup_key" ON "incidents" USING btree ("workspace_id","environment","dedup_key") WHERE dedup_key is not null and status in ('open', 'in_progress', 'on_hold');--> statement-breakpoint
CREATE INDEX "incidents_watchers_idx" ON "incidents" USING gin ("workspace_id","environment",((state->'watcherIds')::jsonb) jsonb_path_ops) WITH (fastupdate=false) WHERE state->>'watcherIds' <> '[]';--> statement-breakpoint
CREATE INDEX "incidents_tags_idx" ON "incidents" USING gin ("workspace_id","environment",((state->'tags')::jsonb) jsonb_path_ops) WITH (fastupdate=false) WHERE state->>'tags' <> '[]';--> statement-breakpoint
CREATE INDEX "catalog_items_created_idx" ON "catalog_items" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_items_name_idx" ON "catalog_items" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "catalog_items_updated_idx" ON "catalog_items" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "catalog_items_status_idx" ON "catalog_items" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_items_category_idx" ON "catalog_items" USING btree ("workspace_id","environment","category","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_items_search_idx" ON "catalog_items" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "catalog_items_tags_idx" ON "catalog_items" USING gin ("workspace_id","environment","tags");--> statement-breakpoint
CREATE UNIQUE INDEX "catalog_requests_number_key" ON "catalog_requests" USING btree ("workspace_id","number_value");--> statement-breakpoint
CREATE INDEX "catalog_requests_created_idx" ON "catalog_requests" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_requests_updated_idx" ON "catalog_requests" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "catalog_requests_status_idx" ON "catalog_requests" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_requests_item_idx" ON "catalog_requests" USING btree ("workspace_id","environment","item_id","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_requests_requester_idx" ON "catalog_requests" USING btree ("workspace_id","environment","requester_id","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_requests_for_idx" ON "catalog_requests" USING btree ("workspace_id","environment","requested_for","created_at","id");--> statement-breakpoint
CREATE INDEX "catalog_requests_search_idx" ON "catalog_requests" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "catalog_requests_approver_idx" ON "catalog_requests" USING gin ("workspace_id","environment","approver_ids");--> statement-breakpoint
CREATE INDEX "catalog_requests_awaited_idx" ON "catalog_requests" USING gin ("workspace_id","environment","awaited_ids") WHERE status = 'awaiting_approval';--> statement-breakpoint
CREATE INDEX "catalog_requests_assignee_idx" ON "catalog_requests" USING gin ("workspace_id","environment","assignee_ids") WHERE status = 'fulfilling';--> statement-breakpoint
CREATE INDEX "change_policies_created_idx" ON "change_policies" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "change_policies_updated_idx" ON "change_policies" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "change_policies_name_idx" ON "change_policies" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "change_policies_order_idx" ON "change_policies" USING btree ("workspace_id","environment","policy_order","id");--> statement-breakpoint
CREATE INDEX "change_policies_status_idx" ON "change_policies" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "change_policies_search_idx" ON "change_policies" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "change_templates_created_idx" ON "change_templates" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "change_templates_updated_idx" ON "change_templates" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "change_templates_name_idx" ON "change_templates" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "change_templates_status_idx" ON "change_templates" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "change_templates_search_idx" ON "change_templates" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE UNIQUE INDEX "changes_number_key" ON "changes" USING btree ("workspace_id","number_value");--> statement-breakpoint
CREATE INDEX "changes_created_idx" ON "changes" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "changes_updated_idx" ON "changes" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "changes_planned_idx" ON "changes" USING btree ("workspace_id","environment","planned_order","id");--> statement-breakpoint
CREATE INDEX "changes_status_idx" ON "changes" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "changes_type_idx" ON "changes" USING btree ("workspace_id","environment","type","created_at","id");--> statement-breakpoint
CREATE INDEX "changes_risk_idx" ON "changes" USING btree ("workspace_id","environment","risk","created_at","id");--> statement-breakpoint
CREATE INDEX "changes_search_idx" ON "changes" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "changes_assignee_idx" ON "changes" USING btree ("workspace_id","environment","assignee_id","created_at","id") WHERE "changes"."assignee_id" is not null;--> statement-breakpoint
CREATE INDEX "changes_group_idx" ON "changes" USING btree ("workspace_id","environment","assignment_group","created_at","id") WHERE "changes"."assignment_group" is not null;--> statement-breakpoint
CREATE INDEX "changes_requester_idx" ON "changes" USING btree ("workspace_id","environment","requester_id","created_at","id");--> statement-breakpoint
CREATE INDEX "changes_problem_idx" ON "changes" USING btree ("workspace_id","environment","problem_id","created_at","id") WHERE "changes"."problem_id" is not null;--> statement-breakpoint
CREATE INDEX "changes_template_idx" ON "changes" USING btree ("workspace_id","environment","template_id","created_at","id") WHERE "changes"."template_id" is not null;--> statement-breakpoint
CREATE INDEX "changes_ci_idx" ON "changes" USING gin ("ci_ids");--> statement-breakpoint
CREATE INDEX "change_windows_created_idx" ON "change_windows" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "change_windows_kind_idx" ON "change_windows" USING btree ("workspace_id","environment","kind","created_at","id");--> statement-breakpoint
CREATE INDEX "change_windows_status_idx" ON "change_windows" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "change_windows_updated_idx" ON "change_windows" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "change_windows_name_idx" ON "change_windows" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "change_windows_search_idx" ON "change_windows" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE UNIQUE INDEX "knowledge_articles_number_key" ON "knowledge_articles" USING btree ("workspace_id","number_value");--> statement-breakpoint
CREATE INDEX "knowledge_articles_created_idx" ON "knowledge_articles" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_articles_updated_idx" ON "knowledge_articles" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_articles_status_idx" ON "knowledge_articles" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_articles_category_idx" ON "knowledge_articles" USING btree ("workspace_id","environment","category","created_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_articles_language_idx" ON "knowledge_articles" USING btree ("workspace_id","environment","language","created_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_articles_tag_idx" ON "knowledge_articles" USING gin ("workspace_id","environment","tags");--> statement-breakpoint
CREATE INDEX "knowledge_articles_due_idx" ON "knowledge_articles" USING btree (greatest(due_instant(state->>'publishAt', 0), held_until)) WHERE status = 'scheduled';--> statement-breakpoint
CREATE INDEX "knowledge_articles_turn_idx" ON "knowledge_articles" USING btree (workspace_id,coalesce(greatest(due_instant(state->>'publishAt', 0), held_until), 'infinity'::timestamptz)) WHERE status = 'scheduled';--> statement-breakpoint
CREATE INDEX "knowledge_articles_listed_idx" ON "knowledge_articles" USING gin ("workspace_id","list_search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "knowledge_chunks_due_idx" ON "knowledge_chunks" USING btree (greatest(due_at, held_until)) WHERE vector is null;--> statement-breakpoint
CREATE INDEX "knowledge_chunks_turn_idx" ON "knowledge_chunks" USING btree (workspace_id,coalesce(greatest(due_at, held_until), 'infinity'::timestamptz)) WHERE vector is null;--> statement-breakpoint
CREATE INDEX "knowledge_chunks_article_idx" ON "knowledge_chunks" USING btree ("article_id","model");--> statement-breakpoint
CREATE INDEX "knowledge_chunks_tenant_idx" ON "knowledge_chunks" USING btree ("workspace_id","environment","model");--> statement-breakpoint
CREATE INDEX "knowledge_published_created_idx" ON "knowledge_published" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_published_updated_idx" ON "knowledge_published" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_published_number_idx" ON "knowledge_published" USING btree ("workspace_id","environment","number_value","id");--> statement-breakpoint
CREATE INDEX "knowledge_published_category_idx" ON "knowledge_published" USING btree ("workspace_id","environment","category","created_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_published_language_idx" ON "knowledge_published" USING btree ("workspace_id","environment","language","created_at","id");--> statement-breakpoint
CREATE INDEX "knowledge_published_tag_idx" ON "knowledge_published" USING gin ("workspace_id","environment","tags");--> statement-breakpoint
CREATE INDEX "knowledge_published_listed_idx" ON "knowledge_published" USING gin ("workspace_id","list_search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "knowledge_published_search_idx" ON "knowledge_published" USING gin ("search") WITH (fastupdate=false);--> statement-breakpoint
CREATE INDEX "knowledge_published_codes_idx" ON "knowledge_published" USING gin ("codes") WITH (fastupdate=false);--> statement-breakpoint
CREATE INDEX "knowledge_published_fuzzy_idx" ON "knowledge_published" USING gin ("fuzzy" gin_trgm_ops) WITH (fastupdate=false);--> statement-breakpoint
CREATE INDEX "knowledge_versions_article_idx" ON "knowledge_versions" USING btree ("workspace_id","environment","article_id","article_version","id");--> statement-breakpoint
CREATE INDEX "knowledge_votes_article_idx" ON "knowledge_votes" USING btree ("workspace_id","environment","article_id");--> statement-breakpoint
CREATE UNIQUE INDEX "problems_number_key" ON "problems" USING btree ("workspace_id","number_value");--> statement-breakpoint
CREATE INDEX "problems_created_idx" ON "problems" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "problems_updated_idx" ON "problems" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "problems_status_idx" ON "problems" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "problems_priority_idx" ON "problems" USING btree ("workspace_id","environment","priority","created_at","id");--> statement-breakpoint
CREATE INDEX "problems_search_idx" ON "problems" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "problems_assignee_idx" ON "problems" USING btree ("workspace_id","environment","assignee_id","created_at","id") WHERE "problems"."assignee_id" is not null;--> statement-breakpoint
CREATE INDEX "problems_group_idx" ON "problems" USING btree ("workspace_id","environment","assignment_group","created_at","id") WHERE "problems"."assignment_group" is not null;--> statement-breakpoint
CREATE INDEX "problems_known_error_idx" ON "problems" USING btree ("workspace_id","environment","created_at","id") WHERE known_error;--> statement-breakpoint
CREATE INDEX "problems_ci_idx" ON "problems" USING gin ("workspace_id","environment","ci_ids");--> statement-breakpoint
CREATE INDEX "problems_change_idx" ON "problems" USING gin ("workspace_id","environment","change_ids");--> statement-breakpoint
CREATE INDEX "problems_tag_idx" ON "problems" USING gin ("workspace_id","environment","tags");--> statement-breakpoint
CREATE INDEX "sla_calendars_list_idx" ON "sla_calendars" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "sla_calendars_updated_idx" ON "sla_calendars" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "sla_calendars_name_idx" ON "sla_calendars" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "sla_calendars_search_idx" ON "sla_calendars" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "sla_policies_list_idx" ON "sla_policies" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "sla_policies_updated_idx" ON "sla_policies" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "sla_policies_name_idx" ON "sla_policies" USING btree ("workspace_id","environment","name","id");--> statement-breakpoint
CREATE INDEX "sla_policies_status_idx" ON "sla_policies" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "sla_policies_entity_idx" ON "sla_policies" USING btree ("workspace_id","environment","entity_type","created_at","id");--> statement-breakpoint
CREATE INDEX "sla_policies_calendar_idx" ON "sla_policies" USING btree ("workspace_id","environment","calendar_id","created_at","id");--> statement-breakpoint
CREATE INDEX "sla_policies_search_idx" ON "sla_policies" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE UNIQUE INDEX "sla_timers_incident_key" ON "sla_timers" USING btree ("incident_id","policy_id","metric");--> statement-breakpoint
CREATE INDEX "sla_timers_created_idx" ON "sla_timers" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "sla_timers_due_idx" ON "sla_timers" USING btree ("workspace_id","environment","due_order","id");--> statement-breakpoint
CREATE INDEX "sla_timers_state_idx" ON "sla_timers" USING btree ("workspace_id","environment","clock_state","due_order","id");--> statement-breakpoint
CREATE INDEX "sla_timers_state_created_idx" ON "sla_timers" USING btree ("workspace_id","environment","clock_state","created_at","id");--> statement-breakpoint
CREATE INDEX "sla_timers_search_idx" ON "sla_timers" USING gin ("workspace_id","search") WITH (fastupdate=true,gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "sla_timers_fire_due_idx" ON "sla_timers" USING btree (greatest(due_instant(state->>'nextFireAt', 1000), held_until)) WHERE next_fire_at is not null;--> statement-breakpoint
CREATE INDEX "sla_timers_fire_turn_idx" ON "sla_timers" USING btree (workspace_id,coalesce(greatest(due_instant(state->>'nextFireAt', 1000), held_until), 'infinity'::timestamptz)) WHERE next_fire_at is not null;--> statement-breakpoint
CREATE INDEX "sla_timers_policy_idx" ON "sla_timers" USING btree ("workspace_id","environment","policy_id","clock_state","id");--> statement-breakpoint
-- By hand again:
CREATE INDEX "change_windows_time_idx" ON "change_windows" USING gist ("workspace_id","environment","status",planned_span("starts_at","ends_at"));--> statement-breakpoint
CREATE INDEX "changes_time_idx" ON "changes" USING gist ("workspace_id","environment",planned_span("planned_start","planned_end")) WHERE planned_start IS NOT NULL;
