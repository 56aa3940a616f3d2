CREATE TABLE "itsm_settings" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
ALTER TABLE "incidents" ADD COLUMN "priority" text GENERATED ALWAYS AS (state->>'priority') STORED,
	ADD COLUMN "impact" text GENERATED ALWAYS AS (state->>'impact') STORED,
	ADD COLUMN "urgency" text GENERATED ALWAYS AS (state->>'urgency') STORED,
	ADD COLUMN "parent_id" text GENERATED ALWAYS AS (state->>'parentId') STORED,
	ADD COLUMN "change_id" text GENERATED ALWAYS AS (state->>'changeId') STORED,
	ADD COLUMN "major_state" text GENERATED ALWAYS AS (state->>'majorState') STORED,
	ADD COLUMN "resolution_code" text GENERATED ALWAYS AS (state->>'resolutionCode') STORED,
	ADD COLUMN "dedup_key" text GENERATED ALWAYS AS (state->>'dedupKey') STORED;
--> statement-breakpoint
CREATE INDEX "incidents_priority_idx" ON "incidents" USING btree ("workspace_id","environment","priority","created_at","id");
--> statement-breakpoint
CREATE INDEX "incidents_impact_idx" ON "incidents" USING btree ("workspace_id","environment","impact","created_at","id");
--> statement-breakpoint
CREATE INDEX "incidents_urgency_idx" ON "incidents" USING btree ("workspace_id","environment","urgency","created_at","id");
--> statement-breakpoint
CREATE INDEX "incidents_parent_idx" ON "incidents" USING btree ("workspace_id","environment","parent_id","created_at","id") WHERE "incidents"."parent_id" is not null;
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
-- By hand:
-- Incidents from before these fields get their defaults, which is what reading and rebuilding make of them too.
UPDATE "incidents" SET "state" = ('{"impact":"medium","urgency":"medium","priority":"P3","priorityOverride":null,"parentId":null,"childCount":0,"problemId":null,"changeId":null,"causedByChangeId":null,"watcherIds":[],"majorState":"none","dedupKey":null,"alertCount":0,"lastAlertAt":null}'::jsonb || "state"::jsonb)::json WHERE "state"->>'alertCount' IS NULL;
