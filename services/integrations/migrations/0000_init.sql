CREATE TABLE "connector_health" (
	"connector_id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"epoch" integer NOT NULL,
	"misses" integer NOT NULL,
	"last_used_at" timestamp with time zone,
	"due_at" timestamp with time zone,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"lease_owner" text,
	"lease_fence" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "connector_invocations" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"connector_id" text NOT NULL,
	"action" text NOT NULL,
	"status" text NOT NULL,
	"trigger" text NOT NULL,
	"run" text,
	"caller_id" text NOT NULL,
	"attempts" integer NOT NULL,
	"duration_ms" double precision NOT NULL,
	"error_code" text,
	"error_message" text,
	"request_id" text,
	"request" text NOT NULL,
	"response" text,
	"truncated" boolean NOT NULL,
	"created_at" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text
);
--> statement-breakpoint
CREATE TABLE "connectors" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED,
	"kind" text GENERATED ALWAYS AS (state->>'kind') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED
);
--> statement-breakpoint
CREATE INDEX "connector_health_due_idx" ON "connector_health" USING btree (greatest(due_at, held_until)) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "connector_health_turn_idx" ON "connector_health" USING btree (workspace_id,coalesce(greatest(due_at, held_until), 'infinity'::timestamptz)) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "connector_invocations_list_idx" ON "connector_invocations" USING btree ("connector_id","id");--> statement-breakpoint
CREATE INDEX "connector_invocations_due_idx" ON "connector_invocations" USING btree (greatest(expires_at, held_until)) WHERE true;--> statement-breakpoint
CREATE UNIQUE INDEX "connectors_name_key" ON "connectors" USING btree ("workspace_id","environment","name");--> statement-breakpoint
CREATE INDEX "connectors_created_idx" ON "connectors" USING btree ("workspace_id","environment","created_at","id");