-- Their conditions read the JSON of each incident: the replacements read columns.
DROP INDEX "incidents_ci_idx";--> statement-breakpoint
DROP INDEX "incidents_watchers_idx";--> statement-breakpoint
DROP INDEX "incidents_tags_idx";--> statement-breakpoint
-- Computed like those that are generated, which would rewrite the table here.
ALTER TABLE "incidents" ADD COLUMN "watcher_ids" jsonb, ADD COLUMN "tags" jsonb;--> statement-breakpoint
COMMENT ON COLUMN "incidents"."watcher_ids" IS 'computed, to fill: nullif((state->''watcherIds'')::jsonb, ''[]'')';--> statement-breakpoint
COMMENT ON COLUMN "incidents"."tags" IS 'computed, to fill: nullif((state->''tags'')::jsonb, ''[]'')';--> statement-breakpoint
-- brief: each row is looked at once, and few are open and about an item
CREATE INDEX "incidents_open_item_idx" ON "incidents" USING btree ("workspace_id","environment","ci_id") WHERE ci_id is not null and status in ('open', 'in_progress', 'on_hold');--> statement-breakpoint
-- brief: each row is looked at once, and none has the column yet
CREATE INDEX "incidents_watched_idx" ON "incidents" USING gin ("workspace_id","environment","watcher_ids" jsonb_path_ops) WITH (fastupdate=false) WHERE "incidents"."watcher_ids" is not null;--> statement-breakpoint
-- brief: as above
CREATE INDEX "incidents_tagged_idx" ON "incidents" USING gin ("workspace_id","environment","tags" jsonb_path_ops) WITH (fastupdate=false) WHERE "incidents"."tags" is not null;
