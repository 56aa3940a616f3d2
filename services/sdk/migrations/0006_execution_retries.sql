CREATE TABLE "execution_retries" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"artifact_id" text NOT NULL,
	"cause" text NOT NULL,
	"position" bigint NOT NULL,
	"status" text DEFAULT 'running' NOT NULL,
	"total" integer NOT NULL,
	"retried" integer DEFAULT 0 NOT NULL,
	"refused" integer DEFAULT 0 NOT NULL,
	"last_execution_id" text DEFAULT '' NOT NULL,
	"user_id" text NOT NULL,
	"caller" json NOT NULL,
	"depth" smallint NOT NULL,
	"request_id" text NOT NULL,
	"due_at" timestamp(3) with time zone NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"finished_at" timestamp(3) with time zone,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"lease_owner" text,
	"lease_fence" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX "execution_retries_running_key" ON "execution_retries" USING btree ("artifact_id","cause") WHERE status = 'running';--> statement-breakpoint
CREATE INDEX "execution_retries_list_idx" ON "execution_retries" USING btree ("workspace_id","environment","id");--> statement-breakpoint
CREATE INDEX "execution_retries_due_idx" ON "execution_retries" USING btree (greatest(due_at, held_until)) WHERE status = 'running';--> statement-breakpoint
CREATE INDEX "execution_retries_turn_idx" ON "execution_retries" USING btree (workspace_id,coalesce(greatest(due_at, held_until), 'infinity'::timestamptz)) WHERE status = 'running';