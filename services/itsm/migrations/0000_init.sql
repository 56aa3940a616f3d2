CREATE TABLE "consumer_checkpoints" (
	"consumer" text PRIMARY KEY NOT NULL,
	"stream_sequence" bigint NOT NULL,
	"event_id" text NOT NULL,
	"handled" bigint NOT NULL,
	"updated_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "dead_letters" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "dead_letters_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"consumer" text NOT NULL,
	"message_id" text NOT NULL,
	"subject" text NOT NULL,
	"stream_sequence" bigint NOT NULL,
	"payload" text NOT NULL,
	"error" text NOT NULL,
	"deliveries" integer NOT NULL,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "events" (
	"position" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "events_position_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"id" text NOT NULL,
	"stream_type" text NOT NULL,
	"stream_id" text NOT NULL,
	"version" integer NOT NULL,
	"type" text NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"actor" json NOT NULL,
	"resource" json NOT NULL,
	"data" json NOT NULL,
	"sealed" json,
	"request_id" text,
	"causation_id" text,
	"created_at" timestamp(3) with time zone NOT NULL,
	"published_at" timestamp(3) with time zone
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"key" text PRIMARY KEY NOT NULL,
	"fingerprint" text NOT NULL,
	"status" integer,
	"body" json,
	"headers" json,
	"created_at" timestamp(3) with time zone DEFAULT now() NOT NULL,
	"locked_until" timestamp(3) with time zone,
	"expires_at" timestamp(3) with time zone DEFAULT now() + interval '24 hours' NOT NULL
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
	"visibility" text GENERATED ALWAYS AS (state->>'visibility') STORED
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
	"updated_at" text GENERATED ALWAYS AS (state->>'updatedAt') STORED
);
--> statement-breakpoint
CREATE TABLE "number_counters" (
	"workspace_id" text NOT NULL,
	"kind" text NOT NULL,
	"last" bigint NOT NULL,
	CONSTRAINT "number_counters_pkey" PRIMARY KEY("workspace_id","kind")
);
--> statement-breakpoint
CREATE UNIQUE INDEX "dead_letters_message_key" ON "dead_letters" USING btree ("consumer","message_id");--> statement-breakpoint
CREATE UNIQUE INDEX "events_id_key" ON "events" USING btree ("id");--> statement-breakpoint
CREATE UNIQUE INDEX "events_stream_version_key" ON "events" USING btree ("stream_id","version");--> statement-breakpoint
CREATE INDEX "events_unpublished_idx" ON "events" USING btree ("position") WHERE published_at is null;--> statement-breakpoint
CREATE INDEX "idempotency_keys_expires_idx" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "incident_comments_incident_idx" ON "incident_comments" USING btree ("workspace_id","environment","incident_id","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "incidents_number_key" ON "incidents" USING btree ("workspace_id","number_value");--> statement-breakpoint
CREATE INDEX "incidents_created_idx" ON "incidents" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "incidents_updated_idx" ON "incidents" USING btree ("workspace_id","environment","updated_at","id");--> statement-breakpoint
CREATE INDEX "incidents_status_idx" ON "incidents" USING btree ("workspace_id","environment","status","created_at","id");--> statement-breakpoint
CREATE INDEX "incidents_assignee_idx" ON "incidents" USING btree ("workspace_id","environment","assignee_id","created_at","id") WHERE "incidents"."assignee_id" is not null;--> statement-breakpoint
CREATE INDEX "incidents_group_idx" ON "incidents" USING btree ("workspace_id","environment","assignment_group","created_at","id") WHERE "incidents"."assignment_group" is not null;