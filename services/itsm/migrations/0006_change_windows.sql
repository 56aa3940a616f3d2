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
CREATE INDEX "change_windows_created_idx" ON "change_windows" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "change_windows_kind_idx" ON "change_windows" USING btree ("workspace_id","environment","kind","created_at","id");
--> statement-breakpoint
-- By hand:
CREATE EXTENSION IF NOT EXISTS btree_gist;--> statement-breakpoint
-- An index takes immutable functions only; this one is, as every instant that is kept is in UTC. Null is without end.
CREATE FUNCTION "planned_span"("starts" text, "ends" text) RETURNS tstzrange LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN starts < ends OR starts IS NULL OR ends IS NULL
    THEN tstzrange(starts::timestamptz, ends::timestamptz) ELSE 'empty'::tstzrange END $$;--> statement-breakpoint
CREATE INDEX "change_windows_time_idx" ON "change_windows" USING gist ("workspace_id","environment","status",planned_span("starts_at","ends_at"));--> statement-breakpoint
CREATE INDEX "changes_time_idx" ON "changes" USING gist ("workspace_id","environment",planned_span("planned_start","planned_end")) WHERE planned_start IS NOT NULL;
