// The demo's story: the shop's transactions and their times. The shop's SQL knows nothing of rollcall.
import type { Pool } from 'pg'
import type { FaultInput } from '../sandbox/faults/faults.ts'
import { type DemoPerson, withRightLetter } from './people.ts'

/** The plan has a table of its own; rollcall reads the view and watches the two tables behind it. */
export const SCHEMA = `
CREATE TABLE public.clientes (
  id text PRIMARY KEY, nombre text NOT NULL, apellido1 text NOT NULL, apellido2 text, correo text, dni text,
  sexo text, nacimiento date, movil text, pais text NOT NULL, idioma text, provincia text, grupo text,
  notas text, ultima_visita timestamptz
);
CREATE TABLE public.suscripciones (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  cliente_id text NOT NULL UNIQUE REFERENCES public.clientes ON DELETE CASCADE,
  plan       text NOT NULL CHECK (plan IN ('gratis', 'premium', 'prueba')),
  contrato   text NOT NULL
);
CREATE VIEW public.v_clientes AS
  SELECT c.id, c.nombre, c.apellido1, c.apellido2, c.correo, c.dni, c.sexo, c.nacimiento, c.movil, c.pais,
    c.idioma, c.grupo, c.notas, s.plan, s.contrato
  FROM public.clientes c LEFT JOIN public.suscripciones s ON s.cliente_id = c.id`

type Statement = { readonly text: string; readonly values: unknown[] }

/** Begins so many milliseconds after its phase. */
export type Transaction = {
  readonly atMs: number
  readonly statements: readonly Statement[]
  readonly end?: 'ROLLBACK'
}

export type Phase = {
  /** For the table at the end. */
  readonly name: string
  /** The event, in words. */
  readonly says: string
  /** A hint for the viewer. */
  readonly look: string
  readonly transactions: readonly Transaction[]
  /** Faults of the service during the phase. */
  readonly faults?: readonly FaultInput[]
  /** False: the next phase begins while customers are still owed. */
  readonly settles?: false
}

const IMPORTED = 120
const BURST = 10

const EVERY_VISIT = sql('UPDATE public.clientes SET ultima_visita = now()')

/**
 * Few customers lose access in this story (deletions, changes to the free plan). The brake would hold a mass of losses
 * until an operator decides.
 */
export function makePhases(people: readonly DemoPerson[], random: () => number): readonly Phase[] {
  const take = makeDeck(people, random)
  const signUps = people.slice(IMPORTED)
  const wrongDnis = people.filter(({ dni }) => dni !== withRightLetter(dni))
  const rightDnis = take(32, ({ dni }) => dni === withRightLetter(dni))
  return [
    {
      name: `import of ${IMPORTED}`,
      says: `${IMPORTED} customers are imported in one transaction`,
      look: 'The backlog stays in Postgres; calls keep to the agreed pace.',
      transactions: [{ atMs: 0, statements: importPeople(people.slice(0, IMPORTED)) }],
    },
    {
      name: `${signUps.length} sign-ups`,
      says: `${signUps.length} customers sign up, one by one`,
      look: 'A row and its subscription become one create, moments after the commit.',
      transactions: signUps.map((person, i) => ({ atMs: i * 33, statements: importPeople([person]) })),
    },
    {
      name: 'single edits',
      says: 'Addresses, phones, names and notes are edited, wrong DNIs corrected',
      look: 'PATCH with the changed field and the status; trials are looked up first.',
      transactions: every(80, [
        ...rightDnis.map(edit),
        ...wrongDnis.map(({ id, dni }) => setColumn(id, 'dni', withRightLetter(dni))),
      ]),
    },
    {
      name: 'plans, clearing',
      says: 'Plans change in their own table; phones, notes and groups are cleared',
      look: 'Clearing arrives as null, or as a full PUT if the configuration says so.',
      transactions: every(70, [
        ...take(6, ({ plan }) => plan === 'prueba').map(({ id }) => setPlan(id, 'premium')),
        ...take(4, ({ plan }) => plan === 'gratis').map(({ id }) => setPlan(id, 'prueba')),
        ...take(5, isPremium).map(({ id }) => setColumn(id, 'movil', null)),
        ...take(3, (person) => isPremium(person) && person.notas !== null).map(({ id }) =>
          setColumn(id, 'notas', null),
        ),
        ...take(4, (person) => isPremium(person) && person.grupo !== null).map(({ id }) =>
          setColumn(id, 'grupo', null),
        ),
      ]),
    },
    {
      name: 'bursts of ten',
      says: `Three customers change their address ${BURST} times within half a second`,
      look: 'At most two calls each: a call sends the row as it is by then.',
      transactions: burst(take(3, isPremium)),
    },
    {
      name: 'nothing to send',
      says: 'An unmapped column changes for all customers; a transaction is rolled back',
      look: 'No change is captured and no call is made.',
      transactions: [
        { atMs: 0, statements: [EVERY_VISIT] },
        {
          atMs: 500,
          statements: take(5, isPremium).map(({ id }) => setColumn(id, 'correo', 'undone@example.com')),
          end: 'ROLLBACK',
        },
        { atMs: 1000, statements: [EVERY_VISIT] },
      ],
    },
    {
      name: 'bulk UPDATE',
      says: 'One UPDATE moves all customers in Madrid and Barcelona to another group',
      look: 'One statement, one PATCH for each customer, within the pace.',
      transactions: every(0, [
        sql(`UPDATE public.clientes SET grupo = 'ciudades' WHERE provincia IN ('Madrid', 'Barcelona')`),
      ]),
    },
    {
      name: 'service in trouble',
      says: 'The service is in trouble: slow, 503 for every fifth call, lost answers',
      look: 'An unknown outcome is never repeated blindly: a GET comes first.',
      transactions: every(70, take(56, isPremium).map(edit)),
      faults: [
        { action: { kind: 'latency', minMs: 10, maxMs: 150 } },
        { rate: 0.2, action: { kind: 'status', status: 503 } },
        { rate: 0.1, action: { kind: 'drop-after' } },
      ],
      settles: false,
    },
    {
      name: 'service well again',
      says: 'The service is well again',
      look: 'Lookups show which calls had been stored; only the others go out again.',
      transactions: [],
    },
    {
      name: 'deletions',
      says: 'Some customers are deleted, others cancel',
      look: 'The service has no DELETE: status 0 takes the access away.',
      transactions: every(120, [
        ...[...take(3, isPremium), ...take(1, ({ plan }) => plan === 'gratis')].map(({ id }) =>
          sql('DELETE FROM public.clientes WHERE id = $1', id),
        ),
        ...take(2, isPremium).map(({ id }) => setPlan(id, 'gratis')),
      ]),
    },
  ]
}

type Play = {
  readonly pool: Pool
  readonly phase: Phase
  readonly now: () => number
  /** Resolves early when the demo is stopped. */
  readonly sleep: (ms: number) => Promise<void>
  readonly stop: AbortSignal
}

/** Runs one transaction after the other; a late one still runs. */
export async function play({ pool, phase, now, sleep, stop }: Play): Promise<void> {
  const begun = now()
  for (const { atMs, statements, end = 'COMMIT' } of phase.transactions) {
    const early = begun + atMs - now()
    if (early > 0) await sleep(early)
    if (stop.aborted) return
    const client = await pool.connect()
    try {
      await client.query('BEGIN')
      for (const statement of statements) await client.query(statement)
      await client.query(end)
      client.release()
    } catch (error) {
      client.release(true) // its transaction ends with the connection
      throw error
    }
  }
}

/** Takes the next customers that fit, in random order and each customer once. */
function makeDeck(people: readonly DemoPerson[], random: () => number) {
  let left = people
    .map((person) => ({ person, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ person }) => person)
  return (count: number, fits: (person: DemoPerson) => boolean): readonly DemoPerson[] => {
    const taken = left.filter(fits).slice(0, count)
    left = left.filter((person) => !taken.includes(person))
    return taken
  }
}

function every(ms: number, statements: readonly Statement[]): readonly Transaction[] {
  return statements.map((statement, i) => ({ atMs: i * ms, statements: [statement] }))
}

/** The busy customers change at nearly the same moments. */
function burst(busy: readonly DemoPerson[]): readonly Transaction[] {
  return Array.from({ length: BURST }, (_, i) =>
    busy.map(({ id }, j) => ({
      atMs: i * 45 + j * 10,
      statements: [setColumn(id, 'correo', `${id.toLowerCase()}.${i}@example.com`)],
    })),
  ).flat()
}

function edit(person: DemoPerson, index: number): Statement {
  const { id } = person
  switch (index % 5) {
    case 0:
      return setColumn(id, 'correo', `${id.toLowerCase()}.${index}@example.org`)
    case 1:
      return setColumn(id, 'movil', `600 900 ${String(index).padStart(3, '0')}`)
    case 2:
      return setColumn(id, 'notas', `Llamó por su contrato (${index})`)
    case 3:
      return setColumn(id, 'apellido2', person.apellido2 === 'Peña' ? 'Vidal' : 'Peña')
    default:
      return setColumn(id, 'idioma', person.idioma === 'en' ? 'es' : 'en')
  }
}

/** Any number of customers at once, one statement for each table. */
function importPeople(people: readonly DemoPerson[]): readonly Statement[] {
  const json = JSON.stringify(people)
  return [
    sql(
      'INSERT INTO public.clientes SELECT * FROM jsonb_populate_recordset(NULL::public.clientes, $1)',
      json,
    ),
    sql(
      `INSERT INTO public.suscripciones (cliente_id, plan, contrato)
        SELECT id, plan, contrato FROM jsonb_to_recordset($1) AS p (id text, plan text, contrato text)`,
      json,
    ),
  ]
}

type Column = 'correo' | 'movil' | 'notas' | 'apellido2' | 'idioma' | 'dni' | 'grupo'

function setColumn(id: string, column: Column, value: string | null): Statement {
  return sql(`UPDATE public.clientes SET ${column} = $2 WHERE id = $1`, id, value)
}

function setPlan(id: string, plan: DemoPerson['plan']): Statement {
  return sql('UPDATE public.suscripciones SET plan = $2 WHERE cliente_id = $1', id, plan)
}

function sql(text: string, ...values: unknown[]): Statement {
  return { text, values }
}

function isPremium({ plan }: DemoPerson): boolean {
  return plan === 'premium'
}
