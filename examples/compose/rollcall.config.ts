// The configuration of docker-compose.yml; schema.sql beside it makes the tables.
import { defineConfig } from 'rollcall'

export default defineConfig({
  customers: { view: 'v_clientes', key: 'numero' },
  watch: [
    { table: 'clientes', key: 'numero' },
    { table: 'suscripciones', key: 'numero_cliente' },
  ],
  scope: { column: 'baja', in: [false] },
  mapping: {
    user_id: { columns: ['numero'], map: ({ numero }) => `tienda-${numero}` },
    status: { column: 'plan', values: { gratis: 0, premium: 2, prueba: 4 }, whenNull: 0 },
    email: 'correo',
    nid_number: 'dni',
    first_name: 'nombre',
    last_name: 'apellidos',
    gender: { column: 'sexo', values: { H: 0, M: 1 }, otherwise: null },
    birthdate: 'fecha_nacimiento',
    mobile_phone: 'movil',
    mobile_phone_prefix: { value: '34' },
    coverage_name: 'plan',
    contract_number: 'contrato',
    service_language_code: { column: 'idioma', values: { es: 'es', ca: 'ca' }, otherwise: 'es' },
    country_code: { value: 'ES' },
  },
  // The sandbox is another container, without TLS.
  service: { environment: 'demo', allowPlainHttp: true },
  pace: { ceiling: 20 },
})
