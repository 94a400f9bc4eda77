CREATE TABLE "own_days" (
	"owner_id" uuid NOT NULL,
	"date" date NOT NULL,
	"name" text NOT NULL,
	"open" boolean NOT NULL,
	CONSTRAINT "own_days_owner_id_date_pk" PRIMARY KEY("owner_id","date")
);
--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "quiet_weekends" boolean;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "quiet_holidays" boolean;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "own_holidays_too" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "country" text;--> statement-breakpoint
ALTER TABLE "accounts" ADD COLUMN "region" text;--> statement-breakpoint
ALTER TABLE "clients" ADD COLUMN "country" text;--> statement-breakpoint
ALTER TABLE "clients" ADD COLUMN "region" text;--> statement-breakpoint
ALTER TABLE "clients" ADD COLUMN "timezone" text;--> statement-breakpoint
ALTER TABLE "own_days" ADD CONSTRAINT "own_days_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;