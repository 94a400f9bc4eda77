CREATE TABLE "plan_tellings" (
	"owner_id" uuid NOT NULL,
	"what" text NOT NULL,
	"told_at" timestamp with time zone NOT NULL,
	CONSTRAINT "plan_tellings_owner_id_what_pk" PRIMARY KEY("owner_id","what")
);
--> statement-breakpoint
ALTER TABLE "plan_tellings" ADD CONSTRAINT "plan_tellings_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;