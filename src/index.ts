// What a configuration file imports from the package; everything else is inside.
export type { Columns, FieldMapping, RollcallConfig, WatchedTable } from './config/define.ts'
export { defineConfig } from './config/define.ts'
