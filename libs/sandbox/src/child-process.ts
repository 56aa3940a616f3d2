// Child processes for work that must be isolated: each has its own heap, a deadline, and no access to the parent's data.
// The program calls `answerRequests` of `@opsplane/sandbox/answering`.
export { type Child, ChildFailedError, type ChildLimits, startChild } from './pool/child.js'
export { buildChildCommand, type ChildProgram } from './pool/program.js'
