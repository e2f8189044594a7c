ALTER TABLE "rollcall"."ledger" ADD COLUMN "conflict" jsonb;--> statement-breakpoint
ALTER TABLE "rollcall"."ledger" ADD COLUMN "settled_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "ledger_conflict" ON "rollcall"."ledger" USING btree ("key") WHERE "rollcall"."ledger"."conflict" IS NOT NULL;