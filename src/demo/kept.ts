// What somebody needs who wants to play with the running demo. Pure.
import type { Line } from './line.ts'
import type { Demo } from './open.ts'

/** Made up for this run, and worth nothing after it: the one place where keys are printed. */
export function sayKept({ env, configFile }: Pick<Demo, 'env' | 'configFile'>): readonly Line[] {
  const { DATABASE_URL, QUEUE_URL: _theSame, ...rest } = env
  return [
    [' Everything keeps running. In another terminal:'],
    [`   export DATABASE_URL='${DATABASE_URL}'`],
    ['   export QUEUE_URL="$DATABASE_URL"'],
    ...Object.entries(rest).map(([name, value]): Line => [`   export ${name}='${value}'`]),
    [],
    [`   psql "$DATABASE_URL" -c "UPDATE clientes SET idioma = 'en'"`],
    [`   npx rollcall sync C-0001 --config '${configFile}'`],
    ['   curl -s "$SERVICE_URL/_sandbox/users"'],
    [],
  ]
}
