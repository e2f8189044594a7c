import { expect, test } from 'vitest'
import { buildHouse, type House } from '../support/house.ts'
import { eachLane } from '../support/lanes.ts'

// Section 2.6, every optional field: the column, a first and a second value of it, and how they go over the wire.
const FIELDS = [
  ['email', 'correo', 'ana@example.com', 'ana@example.org', 'ana@example.com', 'ana@example.org'],
  ['nid_number', 'dni', '12345678z', 'X1234567L', '12345678Z', 'X1234567L'],
  ['first_name', 'nombre', 'Begoña', 'Íñigo', 'Begoña', 'Íñigo'],
  ['last_name', 'apellidos', "O'Higgins «Ruiz»", 'Nuñez', "O'Higgins «Ruiz»", 'Nuñez'],
  ['gender', 'sexo', 'm', 'h', 1, 0],
  ['birthdate', 'nacido', '1980-03-30', '1999-10-31', '1980-03-30', '1999-10-31'],
  ['mobile_phone', 'movil', '600 111 222', '+34 600111223', '600111222', '600111223'],
  ['mobile_phone_prefix', 'prefijo', '+34', '351', '34', '351'],
  ['coverage_name', 'cobertura', 'hogar', 'auto', 'hogar', 'auto'],
  ['contract_number', 'contrato', '007', '008', '007', '008'],
  ['service_language_code', 'idioma', 'ES', 'ca', 'es', 'ca'],
  ['description', 'notas', 'línea 1\nlínea 2', '😀', 'línea 1\nlínea 2', '😀'],
  ['country_code', 'pais', 'es', 'PT', 'ES', 'PT'],
  ['ml_group_name', 'grupo', 'g1', 'g2', 'g1', 'g2'],
  ['md_group_name', 'grupo_medico', 'm1', 'm2', 'm1', 'm2'],
] as const

/** The last PATCH or POST of a user as raw bytes, so that nothing hides behind an equal parse. */
function lastBody(house: House, userId: string): string | undefined {
  return house.sandbox.journal.list({ userId }).at(-1)?.raw
}

eachLane('every field, set, changed and cleared', (lane) => {
  test('the request carries exactly the changed field and the status', async () => {
    await using house = await buildHouse(lane)
    await house.startWorker()
    const { pool } = house.db
    for (const [field, column, first] of FIELDS) {
      const prefix = field === 'mobile_phone' ? ', prefijo' : ''
      const more = field === 'mobile_phone' ? ", '34'" : ''
      await pool.query(
        `INSERT INTO clientes (id, plan, ${column}${prefix}) VALUES ($1, 'premium', $2${more})`,
        [field, first],
      )
    }
    await house.settled()
    for (const [field, , , , wire] of FIELDS) {
      const prefix = field === 'mobile_phone' ? { mobile_phone_prefix: '34' } : {}
      expect(JSON.parse(lastBody(house, field) ?? ''), field).toEqual({
        user_id: field,
        status: 2,
        [field]: wire,
        ...prefix,
      })
    }

    for (const [field, column, , second] of FIELDS)
      await pool.query(`UPDATE clientes SET ${column} = $2 WHERE id = $1`, [field, second])
    await house.settled()
    for (const [field, , , , , wire] of FIELDS) {
      expect(lastBody(house, field), field).toBe(JSON.stringify({ status: 2, [field]: wire }))
    }

    for (const [field, column] of FIELDS)
      await pool.query(`UPDATE clientes SET ${column} = NULL WHERE id = $1`, [field])
    await house.settled()
    for (const [field] of FIELDS)
      expect(lastBody(house, field), field).toBe(JSON.stringify({ status: 2, [field]: null }))
    expect(house.sandbox.journal.list().filter(({ method }) => method === 'GET')).toEqual([])
  })

  test('fields that somebody else set survive, and a PUT clears them only when told to', async () => {
    for (const unmanaged of ['keep', 'clear'] as const) {
      const mapping = {
        user_id: 'id',
        status: { column: 'plan', values: { premium: 2 } },
        email: 'correo',
        first_name: 'nombre',
      } as const
      await using house = await buildHouse(lane, { config: { unmanaged, mapping } })
      await house.startWorker()
      await house.db.pool.query(
        `INSERT INTO clientes (id, plan, correo, nombre) VALUES ('c', 'premium', 'a@example.com', 'A')`,
      )
      await house.settled()
      house.sandbox.users.set('c', {
        status: 2,
        email: 'a@example.com',
        first_name: 'A',
        country_code: 'ES',
        ml_group_name: 'theirs',
      })
      await house.db.pool.query(`UPDATE clientes SET correo = 'b@example.com', nombre = 'B' WHERE id = 'c'`)
      await house.settled()
      const last = house.calls('c').at(-1)
      const user = house.sandbox.users.get('c')
      expect([last?.method, user?.ml_group_name, user?.country_code]).toEqual(
        unmanaged === 'keep' ? ['PATCH', 'theirs', 'ES'] : ['PUT', null, null],
      )
    }
  })

  test('an invalid optional field is left out and recorded, access is synced all the same', async () => {
    await using house = await buildHouse(lane)
    await house.startWorker()
    await house.db.pool.query(
      `INSERT INTO clientes (id, plan, correo, dni, nombre) VALUES ('c', 'premium', 'no-mail', '12345678A', 'Ana')`,
    )
    await house.settled()
    expect(house.calls('c')).toEqual([
      { method: 'POST', body: { user_id: 'c', status: 2, first_name: 'Ana' } },
    ])
    const { rows } = await house.db.pool.query('SELECT issues FROM rollcall.ledger')
    expect(rows[0].issues.map((issue: { field: string }) => issue.field)).toEqual(['email', 'nid_number'])
    expect(JSON.stringify(rows)).not.toContain('no-mail')
  })
})
