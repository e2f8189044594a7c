ALTER TABLE "rollcall"."finding" ADD COLUMN "doubted_in" bigint;--> statement-breakpoint
ALTER TABLE "rollcall"."finding" ADD COLUMN "resolved_in" bigint;