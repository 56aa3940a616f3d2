export {
  DumpedSequence,
  DumpedTable,
  sequencesOf,
  tablesOf,
} from './catalogue.js'
export { type CopiedTable, CopyRefusedError, copyIn, copyOut, fileDigest, type WrittenFile } from './copy.js'
export { applyDefinitions, Definition, Definitions, definitionsOf, withRoles } from './definitions.js'
