import { setTimeout as delay } from 'node:timers/promises'

/** Pause between two requests of a load. To wait for an effect, use `waitFor` instead. */
export const pace = (ms: number): Promise<void> => delay(ms)
