CREATE TABLE "rollcall"."sweep" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"generation" bigint NOT NULL,
	"options" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"marks" bigint[] DEFAULT '{}' NOT NULL,
	"capture" text DEFAULT '' NOT NULL,
	"position" jsonb,
	"total" bigint,
	"tally" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"started_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"ended_at" timestamp with time zone,
	"outcome" text,
	CONSTRAINT "sweep_kind" CHECK ("rollcall"."sweep"."kind" IN ('backfill', 'mapping', 'gap', 'resync', 'check')),
	CONSTRAINT "sweep_outcome" CHECK (("rollcall"."sweep"."outcome" IS NULL) = ("rollcall"."sweep"."ended_at" IS NULL) AND ("rollcall"."sweep"."outcome" IS NULL OR "rollcall"."sweep"."outcome" IN ('done', 'replaced')))
);
--> statement-breakpoint
ALTER TABLE "rollcall"."brake" ADD COLUMN "expected" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "rollcall"."brake" ADD COLUMN "expected_until" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "rollcall"."brake_entry" ADD COLUMN "announced" boolean DEFAULT false NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "sweep_unfinished" ON "rollcall"."sweep" USING btree ("kind") WHERE "rollcall"."sweep"."ended_at" IS NULL;