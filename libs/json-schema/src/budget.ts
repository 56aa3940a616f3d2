/** A check would cost more than it may. */
export class TooCostlyError extends Error {}

/** What one piece of work may cost, in steps of about a microsecond. */
export interface Budget {
  /** Throws TooCostlyError when there are no steps left. */
  spend(steps: number): void
}

export function createBudget(steps: number, message: string): Budget {
  let left = steps
  return {
    spend(count) {
      left -= count
      if (left < 0) throw new TooCostlyError(message)
    },
  }
}
