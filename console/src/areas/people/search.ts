/** Query parameters of the lists about people; unknown parameters and values are dropped. */
type QueryParameters = Readonly<Record<string, unknown>>

export const userStatuses = ['active', 'invited', 'suspended', 'deactivated'] as const
export const keyStatuses = ['active', 'rotated', 'revoked'] as const

export interface UserSearch {
  status?: (typeof userStatuses)[number]
  role?: string
  q?: string
}

export function userSearch({ status, role, q }: QueryParameters): UserSearch {
  const known = userStatuses.find((each) => each === status)
  return { ...(known && { status: known }), ...text('role', role), ...text('q', q) }
}

export interface KeySearch {
  whose?: 'all'
  status?: (typeof keyStatuses)[number]
}

/** The API does not filter a person's own keys, so `status` is only kept for the keys of all users. */
export function keySearch({ whose, status }: QueryParameters): KeySearch {
  if (whose !== 'all') return {}
  const known = keyStatuses.find((each) => each === status)
  return { whose, ...(known && { status: known }) }
}

export interface NotificationSearch {
  unread?: 'true' | 'false'
}

export function notificationSearch({ unread }: QueryParameters): NotificationSearch {
  // The router parses `true` and `false` as booleans.
  const known = (['true', 'false'] as const).find((each) => each === String(unread))
  return known === undefined ? {} : { unread: known }
}

function text<Name extends string>(name: Name, value: unknown): Partial<Record<Name, string>> {
  const input = typeof value === 'number' ? String(value) : value
  return typeof input === 'string' && input !== '' ? ({ [name]: input } as Record<Name, string>) : {}
}
