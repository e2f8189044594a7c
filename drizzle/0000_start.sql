-- A DBA may have made the schema beforehand, for a role that may not create any; IF NOT EXISTS asks for the right.
DO $$ BEGIN
	IF to_regnamespace('rollcall') IS NULL THEN CREATE SCHEMA "rollcall"; END IF;
END $$;
--> statement-breakpoint
CREATE SEQUENCE "rollcall"."token" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "rollcall"."brake" (
	"kind" text PRIMARY KEY NOT NULL,
	"taken" integer DEFAULT 0 NOT NULL,
	"base" bigint,
	"based_at" timestamp with time zone,
	"tripped_at" timestamp with time zone,
	"tripped_at_limit" integer,
	"expected" integer DEFAULT 0 NOT NULL,
	"expected_until" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "rollcall"."brake_entry" (
	"kind" text NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"forgotten" boolean DEFAULT false NOT NULL,
	"expected" boolean DEFAULT false NOT NULL,
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
	CONSTRAINT "decision_action" CHECK ("rollcall"."decision"."action" IN ('release', 'discard', 'credible'))
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
CREATE TABLE "rollcall"."answer" (
	"fingerprint" text PRIMARY KEY NOT NULL,
	"method" text NOT NULL,
	"status" smallint,
	"error" text,
	"body" text,
	"shape" text,
	"meaning" text NOT NULL,
	"count" bigint NOT NULL,
	"first_at" timestamp with time zone NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	"last_key" text COLLATE "C" NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rollcall"."call" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"by" text NOT NULL,
	"plan" text NOT NULL,
	"method" text NOT NULL,
	"status" smallint,
	"error" text,
	"meaning" text NOT NULL,
	"ms" integer NOT NULL,
	"fields" text[] NOT NULL,
	"answer" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "rollcall"."finding" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"user_id" text,
	"kind" text NOT NULL,
	"fields" text[] NOT NULL,
	"pending" text[] DEFAULT '{}' NOT NULL,
	"cause" text,
	"access" text,
	"first_seen" timestamp with time zone DEFAULT now() NOT NULL,
	"last_seen" timestamp with time zone DEFAULT now() NOT NULL,
	"checks" integer DEFAULT 1 NOT NULL,
	"next_check_at" timestamp with time zone,
	"desired" text,
	"repairs" integer DEFAULT 0 NOT NULL,
	"repaired_at" timestamp with time zone,
	"resolved_at" timestamp with time zone,
	"resolved_how" text,
	CONSTRAINT "finding_access" CHECK ("rollcall"."finding"."access" IN ('lost', 'undue')),
	CONSTRAINT "finding_kind" CHECK ("rollcall"."finding"."kind" IN ('missing', 'differs', 'unexpected-access', 'unreadable', 'trial-ended'))
);
--> statement-breakpoint
CREATE TABLE "rollcall"."run" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"generation" bigint NOT NULL,
	"options" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"marks" bigint[] DEFAULT '{}' NOT NULL,
	"capture" text DEFAULT '' NOT NULL,
	"cursor" jsonb,
	"total" bigint,
	"tally" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"started_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"ended_at" timestamp with time zone,
	"outcome" text,
	CONSTRAINT "run_kind" CHECK ("rollcall"."run"."kind" IN ('backfill', 'mapping', 'gap', 'resync', 'check', 'drift')),
	CONSTRAINT "run_outcome" CHECK (("rollcall"."run"."outcome" IS NULL) = ("rollcall"."run"."ended_at" IS NULL) AND ("rollcall"."run"."outcome" IS NULL OR "rollcall"."run"."outcome" IN ('done', 'replaced', 'not-credible')))
);
--> statement-breakpoint
CREATE TABLE "rollcall"."capture_mark" (
	"id" bigserial NOT NULL,
	"kind" text NOT NULL,
	"relation" text NOT NULL,
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"resolved_at" timestamp with time zone,
	"resync_after" text,
	"resynced_at" timestamp with time zone,
	CONSTRAINT "capture_mark_id_at_pk" PRIMARY KEY("id","at"),
	CONSTRAINT "capture_mark_kind" CHECK ("rollcall"."capture_mark"."kind" IN ('truncate', 'overflow'))
);
--> statement-breakpoint
CREATE TABLE "rollcall"."generation" (
	"id" bigint PRIMARY KEY NOT NULL,
	"fingerprint" text NOT NULL,
	"applied_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"swept_at" timestamp with time zone
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
	"conflict" jsonb,
	"digest_key" text,
	"state" text DEFAULT 'idle' NOT NULL,
	"since" timestamp with time zone,
	"reason" jsonb,
	"discard" jsonb,
	"issues" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"last_answer" jsonb,
	"desired" text,
	"generation" bigint,
	"changed_at" timestamp with time zone,
	"acknowledged_at" timestamp with time zone,
	"settled_at" timestamp with time zone,
	"verified_at" timestamp with time zone,
	"proved_at" timestamp with time zone,
	"checked_at" timestamp with time zone,
	"asked_at" timestamp with time zone,
	"observed_forms" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"erased" text,
	"existed" boolean,
	CONSTRAINT "ledger_erased" CHECK ("rollcall"."ledger"."erased" IN ('sent', 'verified')),
	CONSTRAINT "ledger_remote" CHECK ("rollcall"."ledger"."remote" IN ('unasked', 'unknown', 'absent', 'present')),
	CONSTRAINT "ledger_state_known" CHECK ("rollcall"."ledger"."state" IN ('idle', 'rejected', 'failing', 'held', 'discarded'))
);
--> statement-breakpoint
CREATE TABLE "rollcall"."outbox" (
	"id" bigserial NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"lane" smallint NOT NULL,
	"at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	CONSTRAINT "outbox_id_at_pk" PRIMARY KEY("id","at")
);
--> statement-breakpoint
CREATE TABLE "rollcall"."owed" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"key" text COLLATE "C" NOT NULL,
	"change_version" bigint NOT NULL,
	"synced_version" bigint DEFAULT 0 NOT NULL,
	"suspect_version" bigint DEFAULT 0 NOT NULL,
	"unknown" boolean DEFAULT false NOT NULL,
	"hidden_unknown" boolean DEFAULT false NOT NULL,
	"status_unknown" boolean DEFAULT false NOT NULL,
	"verify_left" smallint DEFAULT 0 NOT NULL,
	"verify_at" timestamp with time zone,
	"check_until" timestamp with time zone,
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
	"configured" double precision,
	"rate" double precision NOT NULL,
	"raised_at" timestamp with time zone DEFAULT now() NOT NULL,
	"next_free" timestamp with time zone DEFAULT now() NOT NULL,
	"not_before" timestamp with time zone,
	"epoch" bigint DEFAULT 0 NOT NULL,
	"breaker" text DEFAULT 'closed' NOT NULL,
	"opened_at" timestamp with time zone,
	"probe_at" timestamp with time zone,
	"probe_until" timestamp with time zone,
	"checks_since" timestamp with time zone,
	"sampled_at" timestamp with time zone,
	"sample" jsonb,
	"trouble" jsonb DEFAULT '{}'::jsonb NOT NULL,
	CONSTRAINT "pace_one_row" CHECK ("rollcall"."pace"."id" = 1),
	CONSTRAINT "pace_rate" CHECK ("rollcall"."pace"."rate" > 0 AND "rollcall"."pace"."rate" < 'Infinity' AND "rollcall"."pace"."ceiling" > 0 AND "rollcall"."pace"."ceiling" < 'Infinity'),
	CONSTRAINT "pace_breaker" CHECK ("rollcall"."pace"."breaker" IN ('closed', 'open', 'trying'))
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
	"bound_by" bigint DEFAULT pg_current_xact_id()::text::bigint NOT NULL,
	CONSTRAINT "target_one_row" CHECK ("rollcall"."target"."id" = 1)
);
--> statement-breakpoint
CREATE INDEX "brake_entry_at" ON "rollcall"."brake_entry" USING btree ("kind","at");--> statement-breakpoint
CREATE INDEX "decided_key" ON "rollcall"."decided" USING btree ("key");--> statement-breakpoint
CREATE INDEX "erasure_key" ON "rollcall"."erasure" USING btree ("key","id");--> statement-breakpoint
CREATE INDEX "call_key" ON "rollcall"."call" USING btree ("key","id");--> statement-breakpoint
CREATE INDEX "call_at" ON "rollcall"."call" USING brin ("at");--> statement-breakpoint
CREATE UNIQUE INDEX "finding_open" ON "rollcall"."finding" USING btree ("key") WHERE "rollcall"."finding"."resolved_at" IS NULL;--> statement-breakpoint
CREATE INDEX "finding_key" ON "rollcall"."finding" USING btree ("key");--> statement-breakpoint
CREATE INDEX "finding_next_check" ON "rollcall"."finding" USING btree ("next_check_at") WHERE "rollcall"."finding"."resolved_at" IS NULL;--> statement-breakpoint
CREATE INDEX "finding_resolved" ON "rollcall"."finding" USING btree ("resolved_at") WHERE "rollcall"."finding"."resolved_at" IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "run_unfinished" ON "rollcall"."run" USING btree ("kind") WHERE "rollcall"."run"."ended_at" IS NULL AND "rollcall"."run"."kind" <> 'drift';--> statement-breakpoint
CREATE INDEX "ledger_user_id" ON "rollcall"."ledger" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "ledger_conflict" ON "rollcall"."ledger" USING btree ("key") WHERE "rollcall"."ledger"."conflict" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "ledger_asked" ON "rollcall"."ledger" USING btree ("asked_at");--> statement-breakpoint
CREATE INDEX "ledger_state" ON "rollcall"."ledger" USING btree ("state") WHERE "rollcall"."ledger"."state" <> 'idle';--> statement-breakpoint
CREATE INDEX "owed_due" ON "rollcall"."owed" USING btree ("lane","due_at") WHERE "rollcall"."owed"."due_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "owed_out" ON "rollcall"."owed" USING btree ("due_at") WHERE "rollcall"."owed"."token" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "owed_replan" ON "rollcall"."owed" USING btree ("replan_at") WHERE "rollcall"."owed"."replan_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "owed_verify" ON "rollcall"."owed" USING btree ("verify_at") WHERE "rollcall"."owed"."verify_at" IS NOT NULL;--> statement-breakpoint
-- Small tables whose rows come and go all the time: swept often, so that polls stay quick and pages are given back.
ALTER TABLE "rollcall"."outbox" SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000,
	autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000, autovacuum_vacuum_cost_delay = 0);--> statement-breakpoint
ALTER TABLE "rollcall"."owed" SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000,
	autovacuum_vacuum_cost_delay = 0);
