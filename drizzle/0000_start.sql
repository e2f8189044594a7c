-- A DBA may have made the schema beforehand, for a role that may not create any; IF NOT EXISTS asks for the right.
DO $$ BEGIN
	IF to_regnamespace('rollcall') IS NULL THEN CREATE SCHEMA "rollcall"; END IF;
END $$;
--> statement-breakpoint
CREATE SEQUENCE "rollcall"."token" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "rollcall"."capture_mark" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"relation" text NOT NULL,
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"resolved_at" timestamp with time zone,
	"resync_after" text,
	"resynced_at" timestamp with time zone,
	CONSTRAINT "capture_mark_kind" CHECK ("rollcall"."capture_mark"."kind" IN ('truncate', 'overflow'))
);
--> statement-breakpoint
CREATE TABLE "rollcall"."ledger" (
	"key" text COLLATE "C" PRIMARY KEY NOT NULL,
	"user_id" text,
	"remote" text DEFAULT 'unasked' NOT NULL,
	"sent_status" smallint,
	"seen_status" smallint,
	"sent" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"seen" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"refused" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"digest_key" text,
	"state" text DEFAULT 'idle' NOT NULL,
	"reason" jsonb,
	"issues" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"last_answer" jsonb,
	"desired" text,
	"generation" bigint,
	"acknowledged_at" timestamp with time zone,
	"verify_at" timestamp with time zone,
	"verified_at" timestamp with time zone,
	CONSTRAINT "ledger_remote" CHECK ("rollcall"."ledger"."remote" IN ('unasked', 'unknown', 'absent', 'present')),
	CONSTRAINT "ledger_state_known" CHECK ("rollcall"."ledger"."state" IN ('idle', 'rejected', 'failing', 'held'))
);
--> statement-breakpoint
CREATE TABLE "rollcall"."outbox" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"lane" smallint NOT NULL,
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rollcall"."owed" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"change_version" bigint NOT NULL,
	"synced_version" bigint DEFAULT 0 NOT NULL,
	"suspect_version" bigint DEFAULT 0 NOT NULL,
	"unknown" boolean DEFAULT false NOT NULL,
	"blind" boolean DEFAULT false NOT NULL,
	"lane" smallint NOT NULL,
	"due_at" timestamp with time zone,
	"not_before" timestamp with time zone,
	"replan_at" timestamp with time zone,
	"token" bigint,
	"call_token" bigint,
	"attempts" integer DEFAULT 0 NOT NULL,
	"changed_at" timestamp with time zone,
	CONSTRAINT "owed_key_unique" UNIQUE("key")
);
--> statement-breakpoint
CREATE TABLE "rollcall"."pace" (
	"id" smallint PRIMARY KEY DEFAULT 1 NOT NULL,
	"ceiling" double precision NOT NULL,
	"rate" double precision NOT NULL,
	"next_free" timestamp with time zone DEFAULT now() NOT NULL,
	"not_before" timestamp with time zone,
	"epoch" bigint DEFAULT 0 NOT NULL,
	"breaker" text DEFAULT 'closed' NOT NULL,
	"probe_until" timestamp with time zone,
	CONSTRAINT "pace_one_row" CHECK ("rollcall"."pace"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "rollcall"."revocation" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"version" bigint NOT NULL,
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rollcall"."target" (
	"id" smallint PRIMARY KEY DEFAULT 1 NOT NULL,
	"origin" text NOT NULL,
	"api_key_mac" text NOT NULL,
	"system_identifier" text,
	"timeline" integer,
	"database_oid" bigint,
	"bound_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "target_one_row" CHECK ("rollcall"."target"."id" = 1)
);
--> statement-breakpoint
CREATE INDEX "ledger_user_id" ON "rollcall"."ledger" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "ledger_state" ON "rollcall"."ledger" USING btree ("state") WHERE "rollcall"."ledger"."state" <> 'idle';--> statement-breakpoint
CREATE INDEX "owed_due" ON "rollcall"."owed" USING btree ("lane","due_at") WHERE "rollcall"."owed"."due_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "owed_out" ON "rollcall"."owed" USING btree ("due_at") WHERE "rollcall"."owed"."token" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "owed_replan" ON "rollcall"."owed" USING btree ("replan_at") WHERE "rollcall"."owed"."replan_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "revocation_at" ON "rollcall"."revocation" USING btree ("at");--> statement-breakpoint
-- Small tables whose rows come and go all the time: swept often, so that polls stay quick and pages are given back.
ALTER TABLE "rollcall"."outbox" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
	autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000, autovacuum_vacuum_cost_delay = 0);--> statement-breakpoint
ALTER TABLE "rollcall"."owed" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
	autovacuum_vacuum_cost_delay = 0);
