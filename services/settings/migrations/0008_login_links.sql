CREATE TABLE "bootstrapped_accounts" (
	"account_id" text PRIMARY KEY NOT NULL,
	"created_at" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_in_devices" (
	"account_id" text NOT NULL,
	"device" text NOT NULL,
	"last_at" text NOT NULL,
	CONSTRAINT "sign_in_devices_account_id_device_pk" PRIMARY KEY("account_id","device")
);
--> statement-breakpoint
ALTER TABLE "mails" DROP CONSTRAINT "mails_kind_check";--> statement-breakpoint
ALTER TABLE "account_tokens" ADD COLUMN "issuer" json;--> statement-breakpoint
ALTER TABLE "mails" ADD COLUMN "sign_in" json;--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_kind_check" CHECK (num_nonnulls(notification_id, invitation_id, purpose, sign_in) = 1) NOT VALID;