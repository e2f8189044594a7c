CREATE TABLE "rollcall"."drift_run" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"options" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"cursor" jsonb,
	"started_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"ended_at" timestamp with time zone,
	"outcome" text,
	"population" bigint,
	"sampled" bigint,
	"tally" jsonb DEFAULT '{}'::jsonb NOT NULL,
	CONSTRAINT "drift_run_kind_known" CHECK ("rollcall"."drift_run"."kind" IN ('round', 'run'))
);
--> statement-breakpoint
CREATE TABLE "rollcall"."drift_share" (
	"id" smallint PRIMARY KEY DEFAULT 1 NOT NULL,
	"recent" text DEFAULT '' NOT NULL,
	"halted_at" timestamp with time zone,
	"released_to" bigint DEFAULT 0 NOT NULL,
	"released_at" timestamp with time zone,
	"released_by" text,
	"released_why" text,
	CONSTRAINT "drift_share_one_row" CHECK ("rollcall"."drift_share"."id" = 1)
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
	"looks" integer DEFAULT 1 NOT NULL,
	"next_look_at" timestamp with time zone,
	"desired" text,
	"forms" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"repairs" integer DEFAULT 0 NOT NULL,
	"repaired_at" timestamp with time zone,
	"resolved_at" timestamp with time zone,
	"resolved_how" text,
	"run_id" bigint,
	CONSTRAINT "finding_access" CHECK ("rollcall"."finding"."access" IN ('lost', 'undue')),
	CONSTRAINT "finding_kind" CHECK ("rollcall"."finding"."kind" IN ('missing', 'differs', 'unexpected-access', 'unreadable', 'trial-ended'))
);
--> statement-breakpoint
ALTER TABLE "rollcall"."ledger" ADD COLUMN "proved_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "rollcall"."ledger" ADD COLUMN "looked_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "rollcall"."ledger" ADD COLUMN "normalised" jsonb DEFAULT '{}'::jsonb NOT NULL;--> statement-breakpoint
CREATE INDEX "drift_run_kind" ON "rollcall"."drift_run" USING btree ("kind","id");--> statement-breakpoint
CREATE UNIQUE INDEX "drift_run_round" ON "rollcall"."drift_run" USING btree ("kind") WHERE "rollcall"."drift_run"."kind" = 'round' AND "rollcall"."drift_run"."ended_at" IS NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "finding_open" ON "rollcall"."finding" USING btree ("key") WHERE "rollcall"."finding"."resolved_at" IS NULL;--> statement-breakpoint
CREATE INDEX "finding_next_look" ON "rollcall"."finding" USING btree ("next_look_at") WHERE "rollcall"."finding"."resolved_at" IS NULL;--> statement-breakpoint
CREATE INDEX "finding_resolved" ON "rollcall"."finding" USING btree ("resolved_at") WHERE "rollcall"."finding"."resolved_at" IS NOT NULL;