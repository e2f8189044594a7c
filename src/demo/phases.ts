// The demo's story: what the shop does to its tables, and when. Pure; play.ts carries it out.
import type { FaultInput } from '../sandbox/faults/faults.ts'
import { type Deck, deck } from './deck.ts'
import { isRightDni, withRightLetter } from './dni.ts'
import type { Person } from './people.ts'
import {
  everybodyCalled,
  importPeople,
  regroup,
  remove,
  type Statement,
  setColumn,
  setPlan,
} from './statements.ts'

/** One transaction of the shop, so many milliseconds after the phase began. */
export type Action = {
  readonly atMs: number
  readonly statements: readonly Statement[]
  readonly end: 'commit' | 'rollback'
}

export type Phase = {
  /** For the table at the end. */
  readonly name: string
  /** What happens, in words. */
  readonly says: string
  /** What to look at. */
  readonly look: string
  readonly actions: readonly Action[]
  /** What the service does meanwhile. */
  readonly faults: readonly FaultInput[]
  /** The next phase waits until nothing is owed. */
  readonly settles: boolean
}

/** Imported at once; the rest sign up one by one. */
const IMPORTED = 120
const BURST = 10

const TROUBLE: readonly FaultInput[] = [
  { action: { kind: 'latency', minMs: 10, maxMs: 150 } },
  { rate: 0.2, action: { kind: 'status', status: 503 } },
  { rate: 0.1, action: { kind: 'drop-after' } },
]

/**
 * Losses of access (deletions, and changes to the free plan) are few in this story: a mass of them would be held by the
 * brake until a person has decided.
 */
export function makePhases(people: readonly Person[], random: () => number): readonly Phase[] {
  const cards = () => deck(people, random)
  return [
    arrival(people.slice(0, IMPORTED)),
    signUps(people.slice(IMPORTED)),
    edits(cards(), people),
    plans(cards()),
    bursts(cards()),
    nothing(cards()),
    bulk(),
    trouble(cards()),
    recovery(),
    farewells(cards()),
  ]
}

function arrival(people: readonly Person[]): Phase {
  return phase({
    name: `import of ${people.length}`,
    says: `${people.length} customers are imported in one transaction`,
    look: 'The backlog stays in Postgres; calls keep to the pace that was agreed on.',
    actions: [transaction(0, importPeople(people))],
  })
}

function signUps(people: readonly Person[]): Phase {
  return phase({
    name: `${people.length} sign-ups`,
    says: `${people.length} customers sign up, one by one`,
    look: 'A row and its subscription become one create, moments after the commit.',
    actions: people.map((person, i) => transaction(i * 33, importPeople([person]))),
  })
}

function edits(cards: Deck, people: readonly Person[]): Phase {
  const wrong = people.filter(({ dni }) => !isRightDni(dni))
  const corrected = wrong.map(({ id, dni }) => setColumn(id, 'dni', withRightLetter(dni)))
  const edited = cards.take(32, ({ dni }) => isRightDni(dni)).map(edit)
  return phase({
    name: 'single edits',
    says: 'Addresses, phones, names and notes are edited, wrong DNIs corrected',
    look: 'PATCH with the changed field and the status; trials are looked up first.',
    actions: [...edited, ...corrected].map((statement, i) => transaction(i * 80, [statement])),
  })
}

function plans(cards: Deck): Phase {
  const clear = (column: 'movil' | 'notas' | 'grupo') => (person: Person) =>
    setColumn(person.id, column, null)
  const statements = [
    ...cards.take(6, ({ plan }) => plan === 'prueba').map(({ id }) => setPlan(id, 'premium')),
    ...cards.take(4, ({ plan }) => plan === 'gratis').map(({ id }) => setPlan(id, 'prueba')),
    ...cards.take(5, isPremium).map(clear('movil')),
    ...cards.take(3, (person) => isPremium(person) && person.notas !== null).map(clear('notas')),
    ...cards.take(4, (person) => isPremium(person) && person.grupo !== null).map(clear('grupo')),
  ]
  return phase({
    name: 'plans, clearing',
    says: 'Plans change in their own table; phones, notes and groups are cleared',
    look: 'Clearing arrives as null, or as a full PUT where the configuration says so.',
    actions: statements.map((statement, i) => transaction(i * 70, [statement])),
  })
}

function bursts(cards: Deck): Phase {
  const busy = cards.take(3, isPremium)
  const actions = Array.from({ length: BURST }, (_, i) =>
    busy.map(({ id }, j) =>
      transaction(i * 45 + j * 10, [setColumn(id, 'correo', `${id.toLowerCase()}.${i}@example.com`)]),
    ),
  )
  return phase({
    name: 'bursts of ten',
    says: `Three customers change their address ${BURST} times within half a second`,
    look: 'At most two calls each: what is sent is the row as it is by then.',
    actions: actions.flat(),
  })
}

function nothing(cards: Deck): Phase {
  const undone = cards.take(5, isPremium).map(({ id }) => setColumn(id, 'correo', 'nobody@example.com'))
  return phase({
    name: 'nothing to send',
    says: 'An unmapped column changes for everybody; a transaction is rolled back',
    look: 'No change is captured and no call is made.',
    actions: [
      transaction(0, [everybodyCalled()]),
      { ...transaction(500, undone), end: 'rollback' },
      transaction(1000, [everybodyCalled()]),
    ],
  })
}

function bulk(): Phase {
  return phase({
    name: 'bulk UPDATE',
    says: 'One UPDATE moves everybody in Madrid and Barcelona to another group',
    look: 'One statement, one PATCH for each customer, within the pace.',
    actions: [transaction(0, [regroup(['Madrid', 'Barcelona'], 'grandes ciudades')])],
  })
}

function trouble(cards: Deck): Phase {
  const edited = cards.take(56, isPremium).map(edit)
  return phase({
    name: 'service in trouble',
    says: 'The service is in trouble: slow, 503 for every fifth call, lost answers',
    look: 'What may have arrived is never sent blindly again: it waits for a GET.',
    actions: edited.map((statement, i) => transaction(i * 70, [statement])),
    faults: TROUBLE,
    settles: false,
  })
}

function recovery(): Phase {
  return phase({
    name: 'service well again',
    says: 'The service is well again',
    look: 'Lookups show which calls had been stored; only the others go out again.',
    actions: [],
  })
}

function farewells(cards: Deck): Phase {
  const gone = [...cards.take(3, isPremium), ...cards.take(1, ({ plan }) => plan === 'gratis')]
  const cancelled = cards.take(2, isPremium).map(({ id }) => setPlan(id, 'gratis'))
  return phase({
    name: 'deletions',
    says: 'Customers are deleted, others cancel',
    look: 'The service has no DELETE: status 0 takes the access away.',
    actions: [...gone.map(({ id }) => remove(id)), ...cancelled].map((statement, i) =>
      transaction(i * 120, [statement]),
    ),
  })
}

type Told = Pick<Phase, 'name' | 'says' | 'look' | 'actions'> & Partial<Pick<Phase, 'faults' | 'settles'>>

function phase(told: Told): Phase {
  return { faults: [], settles: true, ...told }
}

function transaction(atMs: number, statements: readonly Statement[]): Action {
  return { atMs, statements, end: 'commit' }
}

function edit(person: Person, index: number): Statement {
  const { id } = person
  switch (index % 5) {
    case 0:
      return setColumn(id, 'correo', `${id.toLowerCase()}.${index}@example.org`)
    case 1:
      return setColumn(id, 'movil', `600 ${String(900_000 + index).replace(/(\d{3})/, '$1 ')}`)
    case 2:
      return setColumn(id, 'notas', `Llamó por su contrato (${index})`)
    case 3:
      return setColumn(id, 'apellido2', person.apellido2 === 'Iglesias' ? 'Vidal' : 'Iglesias')
    default:
      return setColumn(id, 'idioma', person.idioma === 'en' ? 'es' : 'en')
  }
}

function isPremium({ plan }: Person): boolean {
  return plan === 'premium'
}
