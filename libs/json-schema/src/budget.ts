/** A check would exceed its budget. */
export class TooCostlyError extends Error {}

/** Limit on the cost of one piece of work, in steps of about a microsecond. */
export interface Budget {
  /** Throws TooCostlyError if no steps are left. */
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
