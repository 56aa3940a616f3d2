export { eventAt } from './events.js'
export { type StubConsole, startStubConsole } from './server.js'
export { buildId, type StubState, stubStates } from './states.js'
