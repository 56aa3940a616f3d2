import { ApiError } from '@opsplane/contracts'

/** Allows each workspace so many at a time; the next one throws `rate_limited`. */
export function createQuerySlots(most: number) {
  const taken = new Map<string, number>()
  return {
    async run<T>(workspaceId: string, work: () => Promise<T>): Promise<T> {
      const count = taken.get(workspaceId) ?? 0
      if (count >= most)
        throw new ApiError(
          'rate_limited',
          `This workspace runs ${most} queries already. Try again in a moment.`,
          {
            headers: { 'Retry-After': '1' },
          },
        )
      taken.set(workspaceId, count + 1)
      try {
        return await work()
      } finally {
        const left = (taken.get(workspaceId) ?? 1) - 1
        if (left > 0) taken.set(workspaceId, left)
        else taken.delete(workspaceId)
      }
    },
  }
}
export type QuerySlots = ReturnType<typeof createQuerySlots>
