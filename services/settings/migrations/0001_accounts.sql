CREATE TABLE "account_tokens" (
	"account_id" text NOT NULL,
	"purpose" text NOT NULL,
	"id" text NOT NULL,
	"secret_hash" text NOT NULL,
	"expires_at" text NOT NULL,
	CONSTRAINT "account_tokens_account_id_purpose_pk" PRIMARY KEY("account_id","purpose")
);
--> statement-breakpoint
ALTER TABLE "mails" DROP CONSTRAINT "mails_kind_check";--> statement-breakpoint
DROP TABLE "secret_usage";--> statement-breakpoint
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
ALTER TABLE "mails" ADD COLUMN "purpose" text;--> statement-breakpoint
CREATE UNIQUE INDEX "account_tokens_id_key" ON "account_tokens" USING btree ("id");--> statement-breakpoint
CREATE UNIQUE INDEX "mails_purpose_key" ON "mails" USING btree ("email","purpose");--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_kind_check" CHECK (num_nonnulls(notification_id, invitation_id, purpose) = 1);