export {
  DumpedSequence,
  DumpedTable,
  readSequences,
  readTables,
  relationExists,
} from './catalogue.js'
export { copyIn, copyOut, fileDigest } from './copy.js'
export { applyDefinitions, Definitions, readDefinitions, withRoles } from './definitions.js'
