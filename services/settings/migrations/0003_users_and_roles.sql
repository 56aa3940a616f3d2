CREATE TABLE "mails" (
	"id" text PRIMARY KEY NOT NULL,
	"notification_id" text,
	"invitation_id" text,
	"sealed_content" text,
	"user_id" text NOT NULL,
	"email" text NOT NULL,
	"status" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" bigint NOT NULL,
	"give_up_at" bigint NOT NULL,
	"last_error" text,
	CONSTRAINT "mails_kind_check" CHECK (num_nonnulls(notification_id, invitation_id) = 1)
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
INSERT INTO "mails" ("id", "notification_id", "user_id", "email", "status", "attempts", "due_at", "give_up_at", "last_error")
	SELECT "id", "notification_id", "user_id", "email", "status", "attempts", "due_at", "give_up_at", "last_error" FROM "notification_mails";--> statement-breakpoint
DROP TABLE "notification_mails";--> statement-breakpoint
ALTER TABLE "memberships" ADD COLUMN "invitation_id" text GENERATED ALWAYS AS (state#>>'{invitation,id}') STORED;--> statement-breakpoint
CREATE INDEX "mails_due_idx" ON "mails" USING btree ("due_at") WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX "mails_invitation_idx" ON "mails" USING btree ("invitation_id");--> statement-breakpoint
CREATE UNIQUE INDEX "roles_name_key" ON "roles" USING btree ("workspace_id","name");--> statement-breakpoint
CREATE UNIQUE INDEX "memberships_invitation_key" ON "memberships" USING btree ("invitation_id");