CREATE TABLE "rollcall"."brake" (
	"kind" text PRIMARY KEY NOT NULL,
	"taken" integer DEFAULT 0 NOT NULL,
	"base" bigint,
	"based_at" timestamp with time zone,
	"tripped_at" timestamp with time zone,
	"tripped_at_limit" integer
);
--> statement-breakpoint
CREATE TABLE "rollcall"."brake_entry" (
	"kind" text NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "brake_entry_kind_key_pk" PRIMARY KEY("kind","key")
);
--> statement-breakpoint
CREATE TABLE "rollcall"."decided" (
	"decision" bigint NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"desired" text,
	"kinds" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"spent_at" timestamp with time zone,
	CONSTRAINT "decided_decision_key_pk" PRIMARY KEY("decision","key")
);
--> statement-breakpoint
CREATE TABLE "rollcall"."decision" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"action" text NOT NULL,
	"kind" text,
	"customers" integer DEFAULT 0 NOT NULL,
	"by" text NOT NULL,
	"why" text NOT NULL,
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "decision_action" CHECK ("rollcall"."decision"."action" IN ('release', 'discard'))
);
--> statement-breakpoint
CREATE TABLE "rollcall"."erasure" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"user_id" text NOT NULL,
	"fields" text[] NOT NULL,
	"erased_at" timestamp with time zone NOT NULL,
	"verified_at" timestamp with time zone,
	"left_fields" text[]
);
--> statement-breakpoint
ALTER TABLE "rollcall"."ledger" DROP CONSTRAINT "ledger_state_known";--> statement-breakpoint
ALTER TABLE "rollcall"."ledger" ADD COLUMN "erased" text;--> statement-breakpoint
ALTER TABLE "rollcall"."ledger" ADD COLUMN "was_there" boolean;--> statement-breakpoint
ALTER TABLE "rollcall"."pace" ADD COLUMN "configured" double precision;--> statement-breakpoint
ALTER TABLE "rollcall"."pace" ADD COLUMN "raised_at" timestamp with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
ALTER TABLE "rollcall"."pace" ADD COLUMN "cause" text;--> statement-breakpoint
ALTER TABLE "rollcall"."pace" ADD COLUMN "credentials" text;--> statement-breakpoint
ALTER TABLE "rollcall"."pace" ADD COLUMN "opened_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "rollcall"."pace" ADD COLUMN "probe_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "rollcall"."pace" ADD COLUMN "trouble" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
CREATE INDEX "brake_entry_at" ON "rollcall"."brake_entry" USING btree ("kind","at");--> statement-breakpoint
CREATE INDEX "decided_open" ON "rollcall"."decided" USING btree ("key") WHERE "rollcall"."decided"."spent_at" IS NULL;--> statement-breakpoint
CREATE INDEX "erasure_key" ON "rollcall"."erasure" USING btree ("key","id");--> statement-breakpoint
ALTER TABLE "rollcall"."ledger" ADD CONSTRAINT "ledger_erased" CHECK ("rollcall"."ledger"."erased" IN ('sent', 'verified'));--> statement-breakpoint
ALTER TABLE "rollcall"."ledger" ADD CONSTRAINT "ledger_state_known" CHECK ("rollcall"."ledger"."state" IN ('idle', 'rejected', 'failing', 'held', 'discarded'));--> statement-breakpoint
ALTER TABLE "rollcall"."pace" ADD CONSTRAINT "pace_rate" CHECK ("rollcall"."pace"."rate" > 0 AND "rollcall"."pace"."rate" < 'Infinity' AND "rollcall"."pace"."ceiling" > 0 AND "rollcall"."pace"."ceiling" < 'Infinity');--> statement-breakpoint
ALTER TABLE "rollcall"."pace" ADD CONSTRAINT "pace_breaker" CHECK ("rollcall"."pace"."breaker" IN ('closed', 'open', 'trying'));