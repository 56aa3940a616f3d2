import type { LogSource } from './log-pages.js'

export interface HistoryOptions {
  /**
   * `all`: a projection, filled from the beginning where it is new. `gap`: effects outside, of which only those are made up
   * for that this consumer has missed since it is there.
   */
  of: 'all' | 'gap'
  /** The logs of all services: ServiceContext has them. */
  logs: readonly LogSource[]
}
