CREATE TABLE "left_out" (
	"owner_id" uuid NOT NULL,
	"local_date" date NOT NULL,
	"client_key" text NOT NULL,
	CONSTRAINT "left_out_owner_id_local_date_client_key_pk" PRIMARY KEY("owner_id","local_date","client_key")
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "next_evening_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "left_out_until" date;--> statement-breakpoint
ALTER TABLE "owner_links" ADD COLUMN "local_date" date;--> statement-breakpoint
ALTER TABLE "left_out" ADD CONSTRAINT "left_out_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "left_out_date" ON "left_out" USING btree ("local_date");--> statement-breakpoint
CREATE INDEX "accounts_next_evening" ON "accounts" USING btree ("next_evening_at") WHERE "accounts"."next_evening_at" IS NOT NULL;