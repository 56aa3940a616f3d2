CREATE TABLE "replay_jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"webhook_id" text NOT NULL,
	"status" text DEFAULT 'running' NOT NULL,
	"statuses" text[] NOT NULL,
	"event_type" text,
	"from_time" text,
	"to_time" text NOT NULL,
	"total" integer NOT NULL,
	"replayed" integer DEFAULT 0 NOT NULL,
	"last_delivery_id" text DEFAULT '' NOT NULL,
	"due_at" bigint NOT NULL,
	"created_at" text NOT NULL,
	"finished_at" text
);
--> statement-breakpoint
CREATE UNIQUE INDEX "replay_jobs_running_key" ON "replay_jobs" USING btree ("webhook_id") WHERE status = 'running';--> statement-breakpoint
CREATE INDEX "replay_jobs_list_idx" ON "replay_jobs" USING btree ("webhook_id","id");