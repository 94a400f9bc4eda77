DROP INDEX "hook_deliveries_due";--> statement-breakpoint
DROP INDEX "deliveries_due";--> statement-breakpoint
DROP INDEX "deliveries_deadline";--> statement-breakpoint
CREATE INDEX "hook_deliveries_due" ON "hook_deliveries" USING btree ("next_try_at") WHERE "hook_deliveries"."state" = 'waiting' AND "hook_deliveries"."attempt" >= 0;--> statement-breakpoint
CREATE INDEX "deliveries_due" ON "deliveries" USING btree ("next_try_at") WHERE "deliveries"."state" IN ('queued', 'retrying') AND "deliveries"."attempt" >= 0;--> statement-breakpoint
CREATE INDEX "deliveries_deadline" ON "deliveries" USING btree ("deadline_at") WHERE "deliveries"."state" IN ('queued', 'retrying', 'held') AND "deliveries"."attempt" >= 0;