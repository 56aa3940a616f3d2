CREATE TABLE "account_tokens" (
	"account_id" text NOT NULL,
	"purpose" text NOT NULL,
	"id" text NOT NULL,
	"secret_hash" text NOT NULL,
	"expires_at" text NOT NULL,
	CONSTRAINT "account_tokens_account_id_purpose_pk" PRIMARY KEY("account_id","purpose")
);
--> statement-breakpoint
CREATE TABLE "accounts" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"email" text GENERATED ALWAYS AS (state->>'email') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED
);
--> statement-breakpoint
CREATE TABLE "audit_checkpoints" (
	"workspace_id" text NOT NULL,
	"seq" bigint NOT NULL,
	"hash" text NOT NULL,
	"at" text NOT NULL,
	"signature" text NOT NULL,
	"key_id" text NOT NULL,
	CONSTRAINT "audit_checkpoints_workspace_id_seq_pk" PRIMARY KEY("workspace_id","seq")
);
--> statement-breakpoint
CREATE TABLE "audit_exports" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED
);
--> statement-breakpoint
CREATE TABLE "audit_heads" (
	"workspace_id" text PRIMARY KEY NOT NULL,
	"seq" bigint NOT NULL,
	"hash" text NOT NULL,
	"at" text NOT NULL,
	"checkpoint_at" timestamp with time zone,
	"checkpoint_seq" bigint DEFAULT 0 NOT NULL,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text
);
--> statement-breakpoint
CREATE TABLE "audit_log" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"event" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (event#>>'{createdAt}') STORED,
	"type" text GENERATED ALWAYS AS (event#>>'{type}') STORED,
	"actor_id" text GENERATED ALWAYS AS (event#>>'{actor,id}') STORED,
	"resource_type" text GENERATED ALWAYS AS (event#>>'{resource,type}') STORED,
	"resource_id" text GENERATED ALWAYS AS (event#>>'{resource,id}') STORED,
	"request_id" text GENERATED ALWAYS AS (event#>>'{requestId}') STORED,
	"address" text GENERATED ALWAYS AS (event#>>'{source,address}') STORED,
	"seq" bigint NOT NULL,
	"hash" text NOT NULL
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
CREATE TABLE "login_throttle" (
	"key" text PRIMARY KEY NOT NULL,
	"failures" integer NOT NULL,
	"last_at" bigint NOT NULL,
	"blocked_until" bigint NOT NULL,
	"trusted_until" bigint DEFAULT 0 NOT NULL,
	"expires_at" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "mails" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"notification_id" text,
	"invitation_id" text,
	"purpose" text,
	"sealed_content" text,
	"user_id" text NOT NULL,
	"email" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"give_up_at" timestamp with time zone NOT NULL,
	"held_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_error" text,
	"lease_owner" text,
	"lease_fence" bigint DEFAULT 0 NOT NULL,
	CONSTRAINT "mails_kind_check" CHECK (num_nonnulls(notification_id, invitation_id, purpose) = 1)
);
--> statement-breakpoint
CREATE TABLE "memberships" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"user_id" text GENERATED ALWAYS AS (state->>'userId') STORED,
	"role" text GENERATED ALWAYS AS (state->>'role') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED,
	"invitation_id" text GENERATED ALWAYS AS (state#>>'{invitation,id}') STORED
);
--> statement-breakpoint
CREATE TABLE "notification_reads" (
	"notification_id" text NOT NULL,
	"user_id" text NOT NULL,
	"read_at" text NOT NULL,
	CONSTRAINT "notification_reads_notification_id_user_id_pk" PRIMARY KEY("notification_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "notifications" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"event_id" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"audience" text[]
);
--> statement-breakpoint
CREATE TABLE "roles" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED
);
--> statement-breakpoint
CREATE TABLE "secret_usage" (
	"secret_id" text NOT NULL,
	"consumer" text NOT NULL,
	"user_id" text NOT NULL,
	"host" text NOT NULL,
	"use_count" bigint NOT NULL,
	"last_used_at" text NOT NULL,
	"last_used_by" text NOT NULL,
	CONSTRAINT "secret_usage_secret_id_consumer_user_id_host_last_used_by_pk" PRIMARY KEY("secret_id","consumer","user_id","host","last_used_by")
);
--> statement-breakpoint
CREATE TABLE "secrets" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"name" text GENERATED ALWAYS AS (state->>'name') STORED
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" text PRIMARY KEY NOT NULL,
	"secret_hash" text NOT NULL,
	"account_id" text NOT NULL,
	"created_at" text NOT NULL,
	"last_seen_at" text NOT NULL,
	"expires_at" text NOT NULL,
	"address" text NOT NULL,
	"user_agent" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "standing_grants" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"user_id" text NOT NULL,
	"service" text NOT NULL,
	"purpose" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"revoked_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "token_usage" (
	"token_id" text PRIMARY KEY NOT NULL,
	"last_used_at" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "tokens" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"user_id" text GENERATED ALWAYS AS (state->>'userId') STORED,
	"status" text GENERATED ALWAYS AS (state->>'status') STORED
);
--> statement-breakpoint
CREATE TABLE "workspaces" (
	"id" text PRIMARY KEY NOT NULL,
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"version" integer NOT NULL,
	"state" json NOT NULL,
	"created_at" text GENERATED ALWAYS AS (state->>'createdAt') STORED,
	"slug" text GENERATED ALWAYS AS (state->>'slug') STORED
);
--> statement-breakpoint
CREATE UNIQUE INDEX "account_tokens_id_key" ON "account_tokens" USING btree ("id");--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_email_key" ON "accounts" USING btree ("email");--> statement-breakpoint
CREATE INDEX "audit_heads_due_idx" ON "audit_heads" USING btree (greatest(checkpoint_at, held_until)) WHERE checkpoint_at is not null;--> statement-breakpoint
CREATE INDEX "audit_log_created_idx" ON "audit_log" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "audit_log_type_idx" ON "audit_log" USING btree ("workspace_id","environment","type","created_at","id");--> statement-breakpoint
CREATE INDEX "audit_log_actor_idx" ON "audit_log" USING btree ("workspace_id","environment","actor_id","created_at","id");--> statement-breakpoint
CREATE INDEX "audit_log_resource_idx" ON "audit_log" USING btree ("workspace_id","environment","resource_id","created_at","id");--> statement-breakpoint
CREATE INDEX "audit_log_request_idx" ON "audit_log" USING btree ("workspace_id","environment","request_id","created_at","id");--> statement-breakpoint
CREATE INDEX "audit_log_address_idx" ON "audit_log" USING btree ("workspace_id","environment","address","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "audit_log_chain_key" ON "audit_log" USING btree ("workspace_id","seq");--> statement-breakpoint
CREATE UNIQUE INDEX "data_keys_workspace_idx" ON "data_keys" USING btree ("workspace_id","generation");--> statement-breakpoint
CREATE INDEX "login_throttle_expires_idx" ON "login_throttle" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "mails_due_idx" ON "mails" USING btree (greatest(due_at, held_until)) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "mails_turn_idx" ON "mails" USING btree (workspace_id,coalesce(greatest(due_at, held_until), 'infinity'::timestamptz)) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "mails_invitation_idx" ON "mails" USING btree ("invitation_id");--> statement-breakpoint
CREATE UNIQUE INDEX "mails_purpose_key" ON "mails" USING btree ("email","purpose");--> statement-breakpoint
CREATE UNIQUE INDEX "memberships_user_key" ON "memberships" USING btree ("user_id","workspace_id");--> statement-breakpoint
CREATE UNIQUE INDEX "memberships_invitation_key" ON "memberships" USING btree ("invitation_id");--> statement-breakpoint
CREATE INDEX "memberships_created_idx" ON "memberships" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "notifications_event_key" ON "notifications" USING btree ("event_id");--> statement-breakpoint
CREATE INDEX "notifications_created_idx" ON "notifications" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "roles_name_key" ON "roles" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "secrets_name_key" ON "secrets" USING btree ("workspace_id","environment","name");--> statement-breakpoint
CREATE INDEX "secrets_created_idx" ON "secrets" USING btree ("workspace_id","environment","created_at","id");--> statement-breakpoint
CREATE INDEX "sessions_account_idx" ON "sessions" USING btree ("account_id","expires_at");--> statement-breakpoint
CREATE INDEX "standing_grants_user_idx" ON "standing_grants" USING btree ("workspace_id","user_id");--> statement-breakpoint
CREATE INDEX "tokens_user_idx" ON "tokens" USING btree ("workspace_id","environment","user_id","created_at","id");--> statement-breakpoint
CREATE UNIQUE INDEX "workspaces_slug_key" ON "workspaces" USING btree ("slug");
--> statement-breakpoint
CREATE TABLE "resource_counts" (
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"resource" text NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "resource_counts_workspace_id_environment_resource_pk" PRIMARY KEY("workspace_id","environment","resource")
);
