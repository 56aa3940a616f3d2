-- brief: written by failures and replays alone, which are few; where they are many it is made on each partition before (CHANGELOG.md)
CREATE INDEX "executions_failed_idx" ON "executions" USING btree ("artifact_id","id") WHERE status in ('failed', 'timeout');--> statement-breakpoint
-- brief: written by failures and replays alone, which are few; where they are many it is made on each partition before (CHANGELOG.md)
CREATE INDEX "executions_replays_idx" ON "executions" USING btree ("replay_of","id") WHERE replay_of is not null;