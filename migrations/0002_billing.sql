CREATE TABLE "invoice_counts" (
	"owner_id" uuid NOT NULL,
	"month" text NOT NULL,
	"created" integer NOT NULL,
	CONSTRAINT "invoice_counts_owner_id_month_pk" PRIMARY KEY("owner_id","month")
);
--> statement-breakpoint
CREATE TABLE "payment_events" (
	"event_id" text PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"order_id" text,
	"subscription_id" text,
	"payment_id" text,
	"received_at" timestamp with time zone NOT NULL,
	"handled_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "payments" (
	"id" uuid PRIMARY KEY NOT NULL,
	"payment_id" text NOT NULL,
	"purchase_id" uuid NOT NULL,
	"owner_id" uuid,
	"amount_minor" integer NOT NULL,
	"refunded_minor" integer DEFAULT 0 NOT NULL,
	"currency" text NOT NULL,
	"status" text NOT NULL,
	"method" text,
	"reason" text,
	"paid_at" timestamp with time zone NOT NULL,
	"recorded_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "provider_plans" (
	"key_id" text NOT NULL,
	"plan" text NOT NULL,
	"billing_period" text NOT NULL,
	"price_minor" integer NOT NULL,
	"plan_id" text NOT NULL,
	CONSTRAINT "provider_plans_key_id_plan_billing_period_price_minor_pk" PRIMARY KEY("key_id","plan","billing_period","price_minor")
);
--> statement-breakpoint
CREATE TABLE "purchases" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner_id" uuid,
	"payment_type" text NOT NULL,
	"plan" text NOT NULL,
	"billing_period" text NOT NULL,
	"price_minor" integer NOT NULL,
	"amount_minor" integer NOT NULL,
	"credit_minor" integer DEFAULT 0 NOT NULL,
	"credit_until" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL,
	"provider_id" text,
	"claimed_at" timestamp with time zone,
	"paid_at" timestamp with time zone,
	"paid_minor" integer,
	"provider_status" text,
	"authorised" boolean DEFAULT false NOT NULL,
	"start_at" timestamp with time zone,
	"current_end" timestamp with time zone,
	"paid_from" timestamp with time zone,
	"paid_through" timestamp with time zone,
	"cancel_at_period_end" boolean DEFAULT false NOT NULL,
	"ended_at" timestamp with time zone,
	"cancel_wanted" boolean DEFAULT false NOT NULL,
	"next_check_at" timestamp with time zone,
	"wakes" integer DEFAULT 0 NOT NULL,
	"failures" integer DEFAULT 0 NOT NULL,
	"asked" integer DEFAULT 0 NOT NULL,
	"heard" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
ALTER TABLE "invoice_counts" ADD CONSTRAINT "invoice_counts_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_purchase_id_purchases_id_fk" FOREIGN KEY ("purchase_id") REFERENCES "public"."purchases"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "purchases" ADD CONSTRAINT "purchases_owner_id_accounts_id_fk" FOREIGN KEY ("owner_id") REFERENCES "public"."accounts"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "payment_events_waiting" ON "payment_events" USING btree ("received_at") WHERE "payment_events"."handled_at" IS NULL;--> statement-breakpoint
CREATE INDEX "payment_events_old" ON "payment_events" USING btree ("received_at");--> statement-breakpoint
CREATE UNIQUE INDEX "payments_payment" ON "payments" USING btree ("payment_id");--> statement-breakpoint
CREATE INDEX "payments_owner" ON "payments" USING btree ("owner_id","paid_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "payments_purchase" ON "payments" USING btree ("purchase_id");--> statement-breakpoint
CREATE INDEX "purchases_owner" ON "purchases" USING btree ("owner_id","created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "purchases_provider" ON "purchases" USING btree ("provider_id");--> statement-breakpoint
CREATE INDEX "purchases_next_check" ON "purchases" USING btree ("next_check_at") WHERE "purchases"."next_check_at" IS NOT NULL;