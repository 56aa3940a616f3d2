CREATE TABLE "export_jobs" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"phase" text NOT NULL,
	"due_at" timestamp(3) with time zone,
	"cancelled" boolean DEFAULT false NOT NULL,
	"owner" json NOT NULL,
	"request_id" text,
	"plan" json NOT NULL,
	"row_cursor" text,
	"writer" json,
	"opened" json,
	"ended" boolean DEFAULT false NOT NULL,
	"parts" integer DEFAULT 0 NOT NULL,
	"row_count" bigint DEFAULT 0 NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"lease_owner" text,
	"lease_fence" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "export_links" (
	"id" text PRIMARY KEY NOT NULL,
	"export_id" text NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"created_by" text NOT NULL,
	"created_at" timestamp(3) with time zone NOT NULL,
	"expires_at" timestamp(3) with time zone NOT NULL,
	"revoked_at" timestamp(3) with time zone,
	"downloads" integer DEFAULT 0 NOT NULL,
	"last_used_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "export_objects" (
	"name" text PRIMARY KEY NOT NULL,
	"export_id" text NOT NULL,
	"workspace_id" text NOT NULL,
	"part" integer,
	"bytes" bigint NOT NULL,
	"sha256" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "exports" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED
);
--> statement-breakpoint
CREATE TABLE "kpi_evaluations" (
	"id" text PRIMARY KEY NOT NULL,
	"kpi_id" text NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"at" timestamp(3) with time zone NOT NULL,
	"backfill" boolean NOT NULL,
	"replace" boolean NOT NULL,
	"due_at" timestamp(3) with time zone,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"lease_owner" text,
	"lease_fence" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "kpi_points" (
	"kpi_id" text NOT NULL,
	"at" timestamp(3) with time zone NOT NULL,
	"covers_from" timestamp(3) with time zone NOT NULL,
	"covers_to" timestamp(3) with time zone NOT NULL,
	"time_zone" text NOT NULL,
	"value" double precision,
	"target" double precision,
	"status" text NOT NULL,
	"measured_at" timestamp(3) with time zone NOT NULL,
	"backfilled" boolean NOT NULL,
	CONSTRAINT "kpi_points_pkey" PRIMARY KEY("kpi_id","at")
);
--> statement-breakpoint
CREATE TABLE "kpi_standings" (
	"kpi_id" text PRIMARY KEY NOT NULL,
	"status" text,
	"at" timestamp(3) with time zone,
	"error" text
);
--> statement-breakpoint
CREATE TABLE "kpis" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE TABLE "schedule_fires" (
	"schedule_id" text NOT NULL,
	"fire_at" timestamp with time zone NOT NULL,
	"decided_at" timestamp with time zone NOT NULL,
	"begun" text NOT NULL,
	CONSTRAINT "schedule_fires_schedule_id_fire_at_pk" PRIMARY KEY("schedule_id","fire_at")
);
--> statement-breakpoint
CREATE TABLE "schedules" (
	"id" text PRIMARY KEY NOT NULL,
	"owner_kind" text NOT NULL,
	"owner_id" text NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"spec" json NOT NULL,
	"anchored_at" timestamp with time zone NOT NULL,
	"planned_at" timestamp with time zone,
	"last_fired_at" timestamp with time zone,
	"paused_at" timestamp with time zone,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text
);
--> statement-breakpoint
ALTER TABLE "schedule_fires" ADD CONSTRAINT "schedule_fires_schedule_id_schedules_id_fk" FOREIGN KEY ("schedule_id") REFERENCES "schedules"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "export_jobs_due_idx" ON "export_jobs" USING btree (greatest(due_at, held_until)) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "export_jobs_turn_idx" ON "export_jobs" USING btree (workspace_id,coalesce(greatest(due_at, held_until), 'infinity'::timestamptz)) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "export_jobs_workspace_idx" ON "export_jobs" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "export_links_export_idx" ON "export_links" USING btree ("export_id","id");--> statement-breakpoint
CREATE INDEX "export_links_creator_idx" ON "export_links" USING btree ("workspace_id","created_by") WHERE revoked_at is null;--> statement-breakpoint
CREATE INDEX "export_objects_export_idx" ON "export_objects" USING btree ("export_id","part");--> statement-breakpoint
CREATE INDEX "export_objects_workspace_idx" ON "export_objects" USING btree ("workspace_id");--> statement-breakpoint
CREATE INDEX "exports_created_idx" ON "exports" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "exports_status_idx" ON "exports" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "kpi_evaluations_due_idx" ON "kpi_evaluations" USING btree (greatest(due_at, held_until)) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "kpi_evaluations_turn_idx" ON "kpi_evaluations" USING btree (workspace_id,coalesce(greatest(due_at, held_until), 'infinity'::timestamptz)) WHERE due_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "kpi_evaluations_kpi_idx" ON "kpi_evaluations" USING btree ("kpi_id","backfill","at");--> statement-breakpoint
CREATE INDEX "kpis_created_idx" ON "kpis" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "schedules_due_idx" ON "schedules" USING btree (greatest(planned_at, held_until)) WHERE paused_at is null and planned_at is not null;--> statement-breakpoint
CREATE INDEX "schedules_turn_idx" ON "schedules" USING btree (workspace_id,coalesce(greatest(planned_at, held_until), 'infinity'::timestamptz)) WHERE paused_at is null and planned_at is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "schedules_owner_idx" ON "schedules" USING btree ("owner_kind","owner_id");