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
CREATE INDEX "change_windows_created_idx" ON "change_windows" USING btree ("workspace_id","environment","created_at","id");
--> statement-breakpoint
CREATE INDEX "change_windows_kind_idx" ON "change_windows" USING btree ("workspace_id","environment","kind","created_at","id");
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
