// All that a configuration file imports from the package; everything else is internal.
export type {
  Clock,
  Columns,
  FieldMapping,
  RollcallConfig,
  Until,
  UserIdMapping,
  WatchedTable,
} from './config/define.ts'
export { defineConfig } from './config/define.ts'
