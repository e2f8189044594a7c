ALTER TABLE "rollcall"."finding" ADD COLUMN "doubted" jsonb;--> statement-breakpoint
ALTER TABLE "rollcall"."finding" ADD COLUMN "resolved_in" bigint;