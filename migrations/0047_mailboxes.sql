ALTER TABLE "mail_configs" ADD COLUMN "place" uuid;--> statement-breakpoint
-- The secrets of the mailboxes that there are were sealed to the ids of their accounts.
UPDATE "mail_configs" SET "place" = "owner_id";--> statement-breakpoint
ALTER TABLE "mail_configs" ALTER COLUMN "place" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "mail_configs" ADD COLUMN "is_default" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "mail_configs" DROP CONSTRAINT "mail_configs_pkey";--> statement-breakpoint
ALTER TABLE "mail_configs" ADD PRIMARY KEY ("sender_id");--> statement-breakpoint
CREATE UNIQUE INDEX "mail_configs_default" ON "mail_configs" USING btree ("owner_id") WHERE "mail_configs"."is_default";--> statement-breakpoint
ALTER TABLE "mail_configs" ADD CONSTRAINT "mail_configs_place" UNIQUE("owner_id","place");--> statement-breakpoint
ALTER TABLE "clients" ADD COLUMN "mailbox_id" uuid;--> statement-breakpoint
CREATE INDEX "clients_mailbox" ON "clients" USING btree ("owner_id","mailbox_id") WHERE "clients"."mailbox_id" IS NOT NULL;--> statement-breakpoint
-- Here and not in the tables: clients are below mailboxes. A client of a mailbox that is removed has the default one again.
ALTER TABLE "clients" ADD CONSTRAINT "clients_mailbox" FOREIGN KEY ("owner_id", "mailbox_id") REFERENCES "mail_configs" ("owner_id", "place") ON DELETE SET NULL ("mailbox_id");
