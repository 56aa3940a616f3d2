import { setTimeout as delay } from 'node:timers/promises'

/** So long a load pauses between two of its requests. What is to have happened meanwhile is waited for by `waitFor`. */
export const pace = (ms: number): Promise<void> => delay(ms)
