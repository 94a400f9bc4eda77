ALTER TABLE "purchases" ADD CONSTRAINT "purchases_owner_id" UNIQUE("owner_id","id");--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_owner_id_purchase_id_purchases_owner_id_id_fk" FOREIGN KEY ("owner_id","purchase_id") REFERENCES "public"."purchases"("owner_id","id") ON DELETE no action ON UPDATE cascade;
