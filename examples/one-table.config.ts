// One table holds everything: who the customer is and what was bought.
//
//   CREATE TABLE customers (
//     id            bigint PRIMARY KEY,
//     email         text,
//     first_name    text,
//     last_name     text,
//     phone         text,               -- 600 123 456 or +34 600 123 456
//     born_on       date,
//     plan          text NOT NULL,      -- free, premium or trial
//     language      char(2),
//     deleted       boolean NOT NULL DEFAULT false
//   );
import { defineConfig } from 'rollcall'

export default defineConfig({
  customers: { table: 'customers', key: 'id' },

  // A customer that is marked as deleted loses access, exactly as if the row were gone.
  scope: { column: 'deleted', in: [false] },

  mapping: {
    user_id: 'id',
    status: { column: 'plan', values: { free: 0, premium: 2, trial: 4 } },
    email: 'email',
    first_name: 'first_name',
    last_name: 'last_name',
    birthdate: 'born_on',
    mobile_phone: 'phone',
    mobile_phone_prefix: { value: '34' },
    service_language_code: 'language',
    coverage_name: 'plan',
    country_code: { value: 'ES' },
  },

  service: { environment: 'demo' },
  pace: { ceiling: 20 },
})
