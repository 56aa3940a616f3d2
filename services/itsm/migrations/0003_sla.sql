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
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE TABLE "sla_policies" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED
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
	"policy_id" text GENERATED ALWAYS AS (state->>'policyId') STORED,
	"metric" text GENERATED ALWAYS AS (state->>'metric') STORED,
	"cycle" integer GENERATED ALWAYS AS ((state->>'cycle')::integer) STORED,
	"clock_state" text GENERATED ALWAYS AS (state->>'state') STORED,
	"due_at" text GENERATED ALWAYS AS (state->>'dueAt') STORED,
	"next_fire_at" text GENERATED ALWAYS AS (state->>'nextFireAt') STORED
);
--> statement-breakpoint
CREATE INDEX "sla_calendars_list_idx" ON "sla_calendars" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "sla_policies_list_idx" ON "sla_policies" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "sla_timers_incident_key" ON "sla_timers" USING btree ("incident_id","policy_id","metric");--> statement-breakpoint
CREATE INDEX "sla_timers_fire_idx" ON "sla_timers" USING btree ("next_fire_at","id") WHERE "sla_timers"."next_fire_at" is not null;--> statement-breakpoint
CREATE INDEX "sla_timers_policy_idx" ON "sla_timers" USING btree ("workspace_id","environment","policy_id","clock_state","id");