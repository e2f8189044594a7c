import type { AddCommand } from './main.ts'

export const demoCommand: AddCommand = () => {}
