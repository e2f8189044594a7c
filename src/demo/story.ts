// The demo's story: the shop's transactions. The shop's SQL knows nothing of rollcall.
import pg from 'pg'
import { sleep } from '../ops/time.ts'
import type { FaultInput } from '../sandbox/faults/faults.ts'
import { type DemoPerson, withLetter } from './people.ts'

/** The plan has a table of its own; rollcall reads the view and watches the two tables behind it. */
export const SCHEMA = `
CREATE TABLE public.clientes (
  id text PRIMARY KEY, nombre text NOT NULL, apellido1 text NOT NULL, apellido2 text, correo text, dni text,
  sexo text, nacimiento date, movil text, pais text NOT NULL, idioma text, provincia text, grupo text,
  notas text, ultima_visita timestamptz
);
CREATE TABLE public.suscripciones (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  cliente_id text NOT NULL UNIQUE REFERENCES public.clientes ON DELETE CASCADE,
  plan text NOT NULL CHECK (plan IN ('gratis', 'premium', 'prueba')),
  contrato text NOT NULL
);
CREATE VIEW public.v_clientes AS
  SELECT c.id, c.nombre, c.apellido1, c.apellido2, c.correo, c.dni, c.sexo, c.nacimiento, c.movil, c.pais,
    c.idioma, c.grupo, c.notas, s.plan, s.contrato
  FROM public.clientes c LEFT JOIN public.suscripciones s ON s.cliente_id = c.id`

export type Phase = {
  /** For the table at the end. */
  readonly name: string
  readonly says: string
  readonly hint: string
  /** Each is one transaction, also where it has several statements. */
  readonly transactions: readonly string[]
  /** Between the beginnings of two transactions; default 0. */
  readonly everyMs?: number
  /** Faults of the service; the next phase then begins while customers are still owed. */
  readonly faults?: readonly FaultInput[]
}

const IMPORTED = 120
const BURST = 10
const EVERY_VISIT = 'UPDATE public.clientes SET ultima_visita = now()'
const UNDONE = "BEGIN; UPDATE public.clientes SET notas = 'undone'; ROLLBACK"
const BULK = "UPDATE public.clientes SET grupo = 'ciudades' WHERE provincia IN ('Madrid', 'Barcelona')"

/**
 * Few customers lose access in this story (deletions, changes to the free plan). The brake would hold a mass of losses
 * until an operator decides.
 */
export function makePhases(people: readonly DemoPerson[]): readonly Phase[] {
  const signUps = people.slice(IMPORTED)
  const on = (name: DemoPerson['plan']) => people.filter(({ plan }) => plan === name)
  const [premium, onTrial, free] = [on('premium'), on('prueba'), on('gratis')]
  const wrongDnis = people.filter(({ dni }) => dni.endsWith('U'))
  const busy = premium.slice(0, 3)
  const withNotes = premium.filter(({ notas }) => notas)
  const inGroup = premium.filter(({ grupo }) => grupo)
  const deletion = ({ id }: DemoPerson) => `DELETE FROM public.clientes WHERE id = '${id}'`
  return [
    {
      name: `import of ${IMPORTED}`,
      says: `${IMPORTED} customers are imported in one transaction`,
      hint: 'The backlog stays in Postgres; calls keep to the agreed pace.',
      transactions: [importPeople(people.slice(0, IMPORTED))],
    },
    {
      name: `${signUps.length} sign-ups`,
      says: `${signUps.length} customers sign up, one by one`,
      hint: 'A row and its subscription become one create, moments after the commit.',
      transactions: signUps.map((person) => importPeople([person])),
      everyMs: 33,
    },
    {
      name: 'single edits',
      says: 'Addresses, phones, names and notes are edited, wrong DNIs corrected',
      hint: 'PATCH with the changed field and the status; trials are looked up first.',
      transactions: [
        ...people.slice(40, 72).map(edit),
        ...wrongDnis.map(({ id, dni }) => set(id, 'dni', withLetter(dni.slice(0, -1)))),
      ],
      everyMs: 80,
    },
    {
      name: 'plans, clearing',
      says: 'Plans change in their own table; phones, notes and groups are cleared',
      hint: 'A cleared field is sent as null, or by a full PUT if configured so.',
      transactions: [
        ...onTrial.slice(0, 6).map(({ id }) => setPlan(id, 'premium')),
        ...free.slice(0, 4).map(({ id }) => setPlan(id, 'prueba')),
        ...premium.slice(10, 15).map(({ id }) => set(id, 'movil', null)),
        ...withNotes.slice(10, 13).map(({ id }) => set(id, 'notas', null)),
        ...inGroup.slice(20, 24).map(({ id }) => set(id, 'grupo', null)),
      ],
      everyMs: 70,
    },
    {
      name: 'bursts of ten',
      says: `Three customers change their address ${BURST} times within half a second`,
      hint: 'At most two calls for each customer; a call sends the row as it is by then.',
      transactions: Array.from({ length: BURST }, (_, i) =>
        busy.map(({ id }) => set(id, 'correo', `${id.toLowerCase()}.${i}@example.com`)),
      ).flat(),
      everyMs: 15,
    },
    {
      name: 'nothing to send',
      says: 'An unmapped column changes for all customers; a transaction is rolled back',
      hint: 'No change is captured and no call is made.',
      transactions: [EVERY_VISIT, UNDONE, EVERY_VISIT],
      everyMs: 500,
    },
    {
      name: 'bulk UPDATE',
      says: 'One UPDATE moves all customers in Madrid and Barcelona to another group',
      hint: 'One statement, one PATCH for each customer, within the pace.',
      transactions: [BULK],
    },
    {
      name: 'service in trouble',
      says: 'The service is in trouble: slow, 503 for every fifth call, lost answers',
      hint: 'An unknown outcome is never repeated blindly: a GET comes first.',
      transactions: premium.slice(-60, -4).map(edit),
      everyMs: 70,
      faults: [
        { action: { kind: 'latency', minMs: 10, maxMs: 150 } },
        { rate: 0.2, action: { kind: 'status', status: 503 } },
        { rate: 0.1, action: { kind: 'drop-after' } },
      ],
    },
    {
      name: 'service well again',
      says: 'The service is well again',
      hint: 'Lookups show which calls had been stored; only the others go out again.',
      transactions: [],
    },
    {
      name: 'deletions',
      says: 'Some customers are deleted, others cancel',
      hint: 'The service has no DELETE: status 0 takes the access away.',
      transactions: [
        ...[...premium.slice(-4, -1), ...free.slice(-1)].map(deletion),
        ...premium.slice(3, 5).map(({ id }) => setPlan(id, 'gratis')),
      ],
      everyMs: 120,
    },
  ]
}

/** Runs one transaction after the other, until the demo is stopped; a late one still runs. */
export async function play(pool: pg.Pool, { transactions, everyMs = 0 }: Phase, stop?: AbortSignal) {
  const begun = Date.now()
  for (const [i, sql] of transactions.entries()) {
    await sleep(begun + i * everyMs - Date.now(), stop)
    if (stop?.aborted) return
    await pool.query(sql)
  }
}

function edit({ id, apellido2, idioma }: DemoPerson, index: number): string {
  const edits = [
    set(id, 'correo', `${id.toLowerCase()}.${index}@example.org`),
    set(id, 'movil', `600 900 ${String(index).padStart(3, '0')}`),
    set(id, 'notas', `Llamó por su contrato (${index})`),
    set(id, 'apellido2', apellido2 === 'Peña' ? 'Vidal' : 'Peña'),
    set(id, 'idioma', idioma === 'en' ? 'es' : 'en'),
  ]
  return edits[index % edits.length] ?? ''
}

function importPeople(people: readonly DemoPerson[]): string {
  const json = pg.escapeLiteral(JSON.stringify(people))
  return `
    INSERT INTO public.clientes SELECT * FROM jsonb_populate_recordset(NULL::public.clientes, ${json});
    INSERT INTO public.suscripciones (cliente_id, plan, contrato)
      SELECT id, plan, contrato FROM jsonb_to_recordset(${json}) AS p (id text, plan text, contrato text)`
}

function set(id: string, column: keyof DemoPerson, value: string | null): string {
  return `UPDATE public.clientes SET ${column} = ${value === null ? 'NULL' : `'${value}'`} WHERE id = '${id}'`
}

function setPlan(id: string, plan: DemoPerson['plan']): string {
  return `UPDATE public.suscripciones SET plan = '${plan}' WHERE cliente_id = '${id}'`
}
