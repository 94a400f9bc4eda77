ALTER TABLE "mail_configs" ADD COLUMN "learned_per_day_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "settled_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "runs_unsettled" ON "runs" USING btree ("created_at") WHERE "runs"."settled_at" IS NULL;