/** Limits of every list of the API. */
export const pageBounds = { items: 200, cursor: 2_000 } as const
