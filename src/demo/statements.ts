// What the shop's own application does to its tables: plain SQL that knows nothing of rollcall.
import type { Person, Plan } from './people.ts'

export type Statement = { readonly text: string; readonly values: readonly unknown[] }

/** Any number of customers at once, as an import does it: one statement for each table. */
export function importPeople(people: readonly Person[]): readonly Statement[] {
  const values = [JSON.stringify(people)]
  return [
    {
      text: 'INSERT INTO public.clientes SELECT * FROM jsonb_populate_recordset(NULL::public.clientes, $1)',
      values,
    },
    {
      text: `INSERT INTO public.suscripciones (cliente_id, plan, contrato)
        SELECT id, plan, contrato FROM jsonb_to_recordset($1) AS p (id text, plan text, contrato text)`,
      values,
    },
  ]
}

export type Column = 'correo' | 'movil' | 'notas' | 'apellido2' | 'idioma' | 'dni' | 'grupo' | 'ultima_visita'

export function setColumn(id: string, column: Column, value: string | null): Statement {
  return { text: `UPDATE public.clientes SET ${column} = $2 WHERE id = $1`, values: [id, value] }
}

export function setPlan(id: string, plan: Plan): Statement {
  return { text: 'UPDATE public.suscripciones SET plan = $2 WHERE cliente_id = $1', values: [id, plan] }
}

/** Takes the subscription with it (ON DELETE CASCADE). */
export function remove(id: string): Statement {
  return { text: 'DELETE FROM public.clientes WHERE id = $1', values: [id] }
}

export function regroup(provinces: readonly string[], group: string): Statement {
  return {
    text: 'UPDATE public.clientes SET grupo = $2 WHERE provincia = ANY($1)',
    values: [provinces, group],
  }
}

/** The column that the mapping does not read. */
export function everybodyCalled(): Statement {
  return { text: 'UPDATE public.clientes SET ultima_visita = now()', values: [] }
}
