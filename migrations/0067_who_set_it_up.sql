ALTER TABLE "brands" ADD COLUMN "reply_to_made_by" uuid;--> statement-breakpoint
ALTER TABLE "brands" ADD COLUMN "reply_to_offered_to" uuid;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "offered_to" uuid;--> statement-breakpoint
ALTER TABLE "sources" ADD COLUMN "made_by" uuid;--> statement-breakpoint
ALTER TABLE "sources" ADD COLUMN "offered_to" uuid;--> statement-breakpoint
ALTER TABLE "hooks" ADD COLUMN "offered_to" uuid;--> statement-breakpoint
ALTER TABLE "mail_configs" ADD COLUMN "made_by" uuid;--> statement-breakpoint
ALTER TABLE "mail_configs" ADD COLUMN "offered_to" uuid;--> statement-breakpoint
ALTER TABLE "pay_keys" ADD COLUMN "made_by" uuid;--> statement-breakpoint
ALTER TABLE "pay_keys" ADD COLUMN "offered_to" uuid;--> statement-breakpoint
-- Who set up what there is already, as the log knows it by the moment.
UPDATE "mail_configs" t SET "made_by" = e."person_id" FROM "audit_entries" e WHERE e."kind" = 'sender_connected' AND e."owner_id" = t."owner_id" AND e."at" = t."created_at";--> statement-breakpoint
UPDATE "sources" t SET "made_by" = e."person_id" FROM "audit_entries" e WHERE e."kind" = 'source_added' AND e."owner_id" = t."owner_id" AND e."at" = t."created_at";--> statement-breakpoint
UPDATE "pay_keys" t SET "made_by" = e."person_id" FROM "audit_entries" e WHERE e."kind" = 'payment_settings_changed' AND e."owner_id" = t."owner_id" AND e."at" = t."since";--> statement-breakpoint
UPDATE "brands" t SET "reply_to_made_by" = e."person_id" FROM (
  SELECT DISTINCT ON ("owner_id", "about") "owner_id", "about", "person_id" FROM "audit_entries" WHERE "kind" = 'reply_to_changed' ORDER BY "owner_id", "about", "id" DESC) e
  WHERE e."owner_id" = t."owner_id" AND e."about" = t."reply_to";
