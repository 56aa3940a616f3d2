ALTER TABLE "kpi_points" ADD COLUMN "exact_value" numeric;--> statement-breakpoint
ALTER TABLE "kpi_points" ADD COLUMN "exact_target" numeric;