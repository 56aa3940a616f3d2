ALTER TABLE "delivery_attempts" ADD COLUMN "dns_ms" integer;--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD COLUMN "connect_ms" integer;--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD COLUMN "tls_ms" integer;--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD COLUMN "first_byte_ms" integer;--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD COLUMN "total_ms" integer;--> statement-breakpoint
ALTER TABLE "delivery_attempts" ADD COLUMN "is_connection_reused" boolean;--> statement-breakpoint
ALTER TABLE "replay_jobs" ADD COLUMN "cause" text;--> statement-breakpoint
ALTER TABLE "replay_jobs" ADD COLUMN "to_position" bigint;--> statement-breakpoint
-- brief: deliveries are kept for days; where they are many the index is made on each partition before (CHANGELOG.md)
CREATE INDEX "deliveries_tenant_idx" ON "deliveries" USING btree ("workspace_id","environment","id");--> statement-breakpoint
-- brief: deliveries are kept for days; where they are many the index is made on each partition before (CHANGELOG.md)
CREATE INDEX "deliveries_unsuccessful_idx" ON "deliveries" USING btree ("workspace_id","environment","status","id") WHERE status <> 'succeeded';--> statement-breakpoint
-- brief: deliveries are kept for days; where they are many the index is made on each partition before (CHANGELOG.md)
CREATE INDEX "deliveries_replays_idx" ON "deliveries" USING btree ("webhook_id","event_id","id") WHERE replay_of is not null;