// The demo's configuration, as an integrator would write it. With `rollcall demo --keep` every command works
// on the running demo with it: `rollcall status --config <this file>`.
import { defineConfig } from '../config/define.ts'

export default defineConfig({
  // Customers come through a view, because their plan stands in a table of its own (see story.ts).
  customers: { view: 'public.v_clientes', key: 'id' },
  watch: [
    { table: 'public.clientes', key: 'id' },
    { table: 'public.suscripciones', key: 'cliente_id' },
  ],

  mapping: {
    user_id: 'id',
    status: { column: 'plan', values: { gratis: 0, premium: 2, prueba: 4 }, whenNull: 0 },
    email: 'correo',
    nid_number: 'dni',
    first_name: 'nombre',
    last_name: {
      columns: ['apellido1', 'apellido2'],
      map: ({ apellido1, apellido2 }) => [apellido1, apellido2].filter(Boolean).join(' '),
    },
    gender: { column: 'sexo', values: { H: 0, M: 1 }, otherwise: null },
    birthdate: 'nacimiento',
    mobile_phone: 'movil',
    mobile_phone_prefix: { column: 'pais', values: { ES: '34', PT: '351' }, otherwise: null },
    coverage_name: {
      column: 'plan',
      values: { gratis: 'Gratis', premium: 'Premium', prueba: 'Prueba 30 días' },
    },
    contract_number: 'contrato',
    service_language_code: 'idioma',
    description: 'notas',
    country_code: 'pais',
    ml_group_name: 'grupo',
    md_group_name: { value: null }, // named, so that nothing is left out and a full update may be sent
  },

  // Every field is mapped, so a full update takes no field away: a group is cleared by leaving it out.
  clearWith: { ml_group_name: 'omit' },

  service: { environment: 'demo', timeoutMs: 1000 },
  pace: { ceiling: 60, concurrency: 10 },
  // Short, so that calls with an unknown outcome clear up before the reader's eyes; the defaults are longer.
  advanced: {
    timing: { gapMs: 1000, lifetimeMs: 3000, queueLeaseMs: 5000, retryMinMs: 200, retryMaxMs: 2000 },
  },
})
