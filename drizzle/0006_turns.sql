ALTER TABLE "rollcall"."finding" ADD COLUMN "released" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "rollcall"."finding" ADD COLUMN "resolved_in" bigint;--> statement-breakpoint
ALTER TABLE "rollcall"."ledger" ADD COLUMN "taken_in" bigint;--> statement-breakpoint
ALTER TABLE "rollcall"."ledger" ADD COLUMN "counted_in" bigint;--> statement-breakpoint
ALTER TABLE "rollcall"."ledger" ADD COLUMN "counted_as" jsonb;--> statement-breakpoint
ALTER TABLE "rollcall"."drift_share" DROP COLUMN "released_to";--> statement-breakpoint
ALTER TABLE "rollcall"."target" ADD COLUMN "bound_by" bigint DEFAULT pg_current_xact_id()::text::bigint NOT NULL;