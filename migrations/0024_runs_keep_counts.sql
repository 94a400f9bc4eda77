ALTER TABLE "runs" ADD COLUMN "sent" integer;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "failed" integer;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "dropped" integer;--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "last_sent_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "idempotency_keys_invoice" ON "idempotency_keys" USING btree ("owner_id","invoice_id");--> statement-breakpoint
CREATE INDEX "runs_retried" ON "runs" USING btree ("owner_id","retry_of") WHERE "runs"."retry_of" IS NOT NULL;