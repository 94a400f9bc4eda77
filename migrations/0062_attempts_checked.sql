-- Rows of before fulfil it; reading them all would lock the tables for as long.
ALTER TABLE "hook_deliveries" ADD CONSTRAINT "hook_deliveries_attempt" CHECK ("hook_deliveries"."attempt" >= 0) NOT VALID;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_attempt" CHECK ("deliveries"."attempt" >= 0) NOT VALID;