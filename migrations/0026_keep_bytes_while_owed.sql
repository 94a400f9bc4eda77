ALTER TABLE "deliveries" ADD COLUMN "bytes_due_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "decisions_oldest" ON "decisions" USING brin ("decided_at");--> statement-breakpoint
CREATE INDEX "deliveries_bytes" ON "deliveries" USING btree ("bytes_due_at","created_at") WHERE "deliveries"."raw" IS NOT NULL AND "deliveries"."state" IN ('sent', 'failed', 'cancelled', 'superseded');--> statement-breakpoint
CREATE INDEX "deliveries_oldest" ON "deliveries" USING brin ("created_at");--> statement-breakpoint
CREATE INDEX "runs_oldest" ON "runs" USING brin ("created_at");