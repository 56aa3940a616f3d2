export {
  DumpedSequence,
  DumpedTable,
  readSequences,
  readTables,
} from './catalogue.js'
export { type CopiedTable, CopyRefusedError, copyIn, copyOut, fileDigest, type WrittenFile } from './copy.js'
export { applyDefinitions, Definition, Definitions, readDefinitions, withRoles } from './definitions.js'
