// Child processes for work that is better done apart: with a heap of their own, a deadline, and no access to what the
// parent has. The program calls `answerRequests` of `@opsplane/sandbox/answering`.
export { type Child, ChildFailedError, type ChildLimits, startChild } from './pool/child.js'
export { buildChildCommand, type ChildProgram } from './pool/program.js'
