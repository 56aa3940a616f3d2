-- Lost in a crash, as few as count still.
CREATE UNLOGGED TABLE "taken_calls" (
	"id" text PRIMARY KEY NOT NULL,
	"kept_until" timestamp with time zone NOT NULL
);
