DROP INDEX "rollcall"."decided_open";--> statement-breakpoint
ALTER TABLE "rollcall"."brake_entry" ADD COLUMN "forgotten" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX "decided_key" ON "rollcall"."decided" USING btree ("key");