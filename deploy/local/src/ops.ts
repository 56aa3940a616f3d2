export * from './ops-target.js'
export * from './ops-tasks.js'
export { type BackendName, backendNames } from './service-plan.js'
