ALTER TABLE "deliveries" ADD COLUMN "own_next_try_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "own_deadline_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "approved_by_pull" boolean;