// Customers come through a view, because the plan stands in a table of its own.
//
//   CREATE TABLE clientes (
//     pais text, numero text, correo text, dni text, nombre text, apellidos text, sexo text,
//     fecha_nacimiento date, movil text, zona text, PRIMARY KEY (pais, numero)
//   );
//   CREATE TABLE suscripciones (
//     id bigserial PRIMARY KEY, pais text, numero_cliente text, plan text, contrato text, activa boolean
//   );
//   CREATE VIEW v_clientes AS
//     SELECT c.*, s.plan, s.contrato
//     FROM clientes c
//     LEFT JOIN suscripciones s
//       ON s.pais = c.pais AND s.numero_cliente = c.numero AND s.activa;
import { defineConfig } from 'rollcall'

export default defineConfig({
  customers: { view: 'public.v_clientes', key: ['pais', 'numero'] },

  // A view has no changes of its own: these are the tables behind it, each with the columns that hold the
  // customer's key, in the same order.
  watch: [
    { table: 'public.clientes', key: ['pais', 'numero'] },
    {
      table: 'public.suscripciones',
      key: ['pais', 'numero_cliente'],
      columns: ['plan', 'contrato', 'activa'],
    },
  ],

  scope: { columns: ['pais', 'zona'], when: ({ pais, zona }) => pais === 'ES' && zona !== 'pruebas' },

  mapping: {
    user_id: { columns: ['pais', 'numero'], map: ({ pais, numero }) => `${pais}-${numero}` },
    // No active subscription means no access; a plan that is not listed is an error, not "no access".
    status: { column: 'plan', values: { gratis: 0, premium: 2, prueba: 4 }, whenNull: 0 },
    email: 'correo',
    nid_number: 'dni',
    first_name: 'nombre',
    last_name: 'apellidos',
    gender: { column: 'sexo', values: { H: 0, M: 1 }, otherwise: null },
    birthdate: 'fecha_nacimiento',
    mobile_phone: 'movil',
    mobile_phone_prefix: { column: 'pais', values: { ES: '34', PT: '351' }, otherwise: null },
    coverage_name: {
      columns: ['plan', 'zona'],
      map: ({ plan, zona }) => (plan === null || zona === null ? null : `${plan}-${zona}`),
    },
    contract_number: 'contrato',
    service_language_code: { value: 'es' },
    country_code: 'pais',
  },

  onRemove: 'revoke',
  phonePrefix: 'plus',
  service: { environment: 'production', timeoutMs: 10_000 },
})
