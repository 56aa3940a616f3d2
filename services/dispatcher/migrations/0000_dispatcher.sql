CREATE TABLE "consumer_checkpoints" (
	"consumer" text PRIMARY KEY NOT NULL,
	"stream_sequence" bigint NOT NULL,
	"event_id" text NOT NULL,
	"handled" bigint NOT NULL,
	"updated_at" timestamp(3) with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "data_keys" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"generation" integer NOT NULL,
	"wrapped" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
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
CREATE TABLE "deliveries" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"webhook_id" text NOT NULL,
	"event_id" text NOT NULL,
	"event_type" text NOT NULL,
	"url" text NOT NULL,
	"status" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"cycle_base" integer DEFAULT 0 NOT NULL,
	"due_at" bigint,
	"lease_owner" text,
	"replay_of" text,
	"last_attempt_at" text,
	"last_response_status" integer,
	"last_response_body" text,
	"last_duration_ms" integer,
	"last_error_kind" text,
	"last_error_message" text,
	"created_at" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "delivery_attempts" (
	"delivery_id" text NOT NULL,
	"number" integer NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"started_at" text NOT NULL,
	"duration_ms" integer NOT NULL,
	"url" text NOT NULL,
	"request_headers" json NOT NULL,
	"response_status" integer,
	"response_headers" json,
	"response_body" text,
	"response_truncated" boolean,
	"error_kind" text,
	"error_message" text,
	CONSTRAINT "delivery_attempts_pkey" PRIMARY KEY("delivery_id","number")
);
--> statement-breakpoint
CREATE TABLE "delivery_events" (
	"event_id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"event" json NOT NULL,
	"created_at" text NOT NULL
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
CREATE TABLE "number_counters" (
	"workspace_id" text NOT NULL,
	"kind" text NOT NULL,
	"last" bigint NOT NULL,
	CONSTRAINT "number_counters_pkey" PRIMARY KEY("workspace_id","kind")
);
--> statement-breakpoint
CREATE TABLE "webhook_health" (
	"webhook_id" text PRIMARY KEY NOT NULL,
	"epoch" integer NOT NULL,
	"consecutive_failures" integer NOT NULL,
	"peak" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED
);
--> statement-breakpoint
CREATE UNIQUE INDEX "data_keys_workspace_idx" ON "data_keys" USING btree ("workspace_id","generation");--> statement-breakpoint
CREATE UNIQUE INDEX "dead_letters_message_key" ON "dead_letters" USING btree ("consumer","message_id");--> statement-breakpoint
CREATE UNIQUE INDEX "deliveries_event_webhook_key" ON "deliveries" USING btree ("event_id","webhook_id") WHERE replay_of is null;--> statement-breakpoint
CREATE INDEX "deliveries_list_idx" ON "deliveries" USING btree ("webhook_id","id");--> statement-breakpoint
CREATE INDEX "deliveries_failed_idx" ON "deliveries" USING btree ("webhook_id","id") WHERE status = 'failed';--> statement-breakpoint
CREATE INDEX "deliveries_held_idx" ON "deliveries" USING btree ("webhook_id","id") WHERE status = 'held';--> statement-breakpoint
CREATE INDEX "deliveries_due_idx" ON "deliveries" USING btree ("webhook_id","due_at") WHERE status in ('pending', 'retrying');--> statement-breakpoint
CREATE UNIQUE INDEX "events_id_key" ON "events" USING btree ("id");--> statement-breakpoint
CREATE UNIQUE INDEX "events_stream_version_key" ON "events" USING btree ("stream_id","version");--> statement-breakpoint
CREATE INDEX "events_unpublished_idx" ON "events" USING btree ("position") WHERE published_at is null;--> statement-breakpoint
CREATE INDEX "idempotency_keys_expires_idx" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "webhooks_list_idx" ON "webhooks" USING btree ("workspace_id","environment","created_at","id");