import { expect } from 'vitest'
import { SPECIALITIES } from '../../src/service/chat.ts'
import type { Professional } from '../../src/service/chat-read.ts'
import { section } from './section.ts'
import { type BothForms, inMadrid, LAWYER, openScene } from './support.ts'

const scene = await openScene()

/** A text in every professional, which the client passes on. */
function everywhere(
  field: string,
  property: keyof Professional,
  check: (both: readonly BothForms[]) => void = () => {},
) {
  return async () => {
    const both = await scene.professionals()
    for (const { wire, read } of both) {
      expect(wire[field]).toEqual(expect.stringMatching(/\S/))
      expect(read[property]).toBe(wire[field])
    }
    check(both)
  }
}

/** A field that the table and the sample call differently: it is sent under one name, and read under either. */
function underTwoNames(table: string, sample: string, check: (value: unknown) => void) {
  return async () => {
    const inTable = await scene.professionals()
    await scene.become({ names: 'sample' })
    const inSample = await scene.professionals()
    for (const [index, { wire, read }] of inTable.entries()) {
      check(wire[table])
      expect(wire).not.toHaveProperty(sample)
      expect(inSample[index]?.wire).toHaveProperty(sample, wire[table])
      expect(inSample[index]?.wire).not.toHaveProperty(table)
      expect(inSample[index]?.read).toEqual(read)
    }
  }
}

const MINUTE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/

/** Null while it is the case already, else a moment still to come, which the client takes for UTC. */
function nextChange(field: string, property: 'nextConnectionAt' | 'nextDisconnectionAt', already: string) {
  return async () => {
    inMadrid()
    for (const { wire, read } of await scene.professionals()) {
      if (wire.status === already) {
        expect([wire[field], read[property]]).toEqual([null, null])
        continue
      }
      expect(wire[field]).toEqual(expect.stringMatching(MINUTE))
      expect(read[property]?.toISOString()).toBe(`${wire[field]}:00.000Z`)
      expect(read[property]?.getTime()).toBeGreaterThan(scene.sandbox.clock.now() - 1000)
    }
  }
}

section('2.2', {
  professional_id: everywhere('professional_id', 'professionalId', (both) => {
    expect(new Set(both.map(({ read }) => read.professionalId)).size).toBe(both.length)
  }),
  status: async () => {
    const both = await scene.professionals()
    for (const { wire, read } of both) expect(read.status).toBe(wire.status)
    expect(new Set(both.map(({ read }) => read.status))).toEqual(new Set(['offline', 'online']))
  },
  photo: underTwoNames('photo', 'avatar', (value) => expect(value).toSatisfy(URL.canParse)),
  name: everywhere('name', 'name'),
  title: everywhere('title', 'title', (both) => {
    for (const { read } of both) expect(read.title).not.toMatch(/[<>]/)
  }),
  title_html: everywhere('title_html', 'titleHtml', (both) => {
    const all = both.map(({ read }) => read.titleHtml).join()
    for (const form of ['<b>', '<i>', '<u>', 'color']) expect(all).toContain(form)
  }),
  description: everywhere('description', 'description'),
  speciality_id: underTwoNames('speciality_id', 'speciality', (value) =>
    expect([...SPECIALITIES.keys()]).toContain(value),
  ),
  collegiate_number: everywhere('collegiate_number', 'collegiateNumber'),
  schedules: async () => {
    for (const { wire, read } of await scene.professionals()) {
      expect(wire.schedules).toBeInstanceOf(Array)
      expect(read.schedules.length).toBeGreaterThan(0)
      expect(wire.schedules).toHaveLength(read.schedules.length)
    }
  },
  next_connection_at: nextChange('next_connection_at', 'nextConnectionAt', 'online'),
  next_disconnection_at: nextChange('next_disconnection_at', 'nextDisconnectionAt', 'offline'),
  room: async () => {
    scene.fill(3)
    for (const { wire, read } of await scene.professionals()) {
      expect(read.room === null).toBe(read.professionalId !== LAWYER)
      expect(wire.room).toEqual(read.room === null ? null : expect.any(Object))
    }
  },
})

/** A professional of this speciality exists, and the client knows the name of the speciality. */
function speciality(id: number, name: string) {
  return async () => {
    expect(SPECIALITIES.get(id)).toBe(name)
    expect((await scene.professionals()).map(({ read }) => read.specialityId)).toContain(id)
  }
}

section('2.3', {
  '1': speciality(1, 'Generalist'),
  '2': speciality(2, 'Tax'),
  '3': speciality(3, 'Debts'),
  '4': speciality(4, 'Driving'),
  '5': speciality(5, 'Work'),
  '6': speciality(6, 'Family'),
  '7': speciality(7, 'Housing'),
  '8': speciality(8, 'Consumer'),
  '11': speciality(11, 'Criminal'),
})
