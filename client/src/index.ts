export { ExactNumber, parseExact, stringifyExact } from '@opsplane/contracts/exact-json'
export {
  type Call,
  type ClientOptions,
  createClient,
  type Environment,
  type ListPath,
  type OpsplaneClient,
} from './client.js'
export { type ErrorCode, type ErrorDetail, OpsplaneError } from './error.js'
export type { RetryOptions } from './retry.js'
export type { components, operations, paths } from './schema.js'
