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
CREATE TABLE "rollcall"."generation" (
	"id" bigint PRIMARY KEY NOT NULL,
	"fingerprint" text NOT NULL,
	"applied_at" timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
	"swept_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "rollcall"."ledger" ADD COLUMN "since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "rollcall"."ledger" ADD COLUMN "changed_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "rollcall"."owed" ADD COLUMN "status_doubted" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "rollcall"."owed" ADD COLUMN "verify_left" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "rollcall"."owed" ADD COLUMN "verify_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "call_key" ON "rollcall"."call" USING btree ("key","id");--> statement-breakpoint
CREATE INDEX "call_at" ON "rollcall"."call" USING brin ("at");--> statement-breakpoint
CREATE INDEX "owed_verify" ON "rollcall"."owed" USING btree ("verify_at") WHERE "rollcall"."owed"."verify_at" IS NOT NULL;