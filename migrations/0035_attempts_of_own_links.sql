-- A reference by owner and id: a link of another account is refused.
ALTER TABLE "pay_links" ADD CONSTRAINT "pay_links_owner_id" UNIQUE("owner_id","id");
--> statement-breakpoint
ALTER TABLE "pay_attempts" DROP CONSTRAINT "pay_attempts_link_id_pay_links_id_fk";
--> statement-breakpoint
ALTER TABLE "pay_attempts" ADD CONSTRAINT "pay_attempts_owner_id_link_id_pay_links_owner_id_id_fk" FOREIGN KEY ("owner_id","link_id") REFERENCES "public"."pay_links"("owner_id","id") ON DELETE SET NULL ("link_id");
