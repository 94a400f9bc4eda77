DROP INDEX "deliveries_sending";--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "held_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "deaths" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "tried_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "took_ms" integer;--> statement-breakpoint
CREATE INDEX "deliveries_in_hand" ON "deliveries" USING btree ("claimed_by") WHERE "deliveries"."claimed_by" IS NOT NULL;