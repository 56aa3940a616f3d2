CREATE TABLE "execution_results" (
	"execution_id" text PRIMARY KEY NOT NULL,
	"sealed" text NOT NULL
);
