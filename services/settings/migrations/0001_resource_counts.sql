CREATE TABLE "resource_counts" (
	"workspace_id" text NOT NULL,
	"environment" text NOT NULL,
	"resource" text NOT NULL,
	"count" bigint NOT NULL,
	CONSTRAINT "resource_counts_workspace_id_environment_resource_pk" PRIMARY KEY("workspace_id","environment","resource")
);
