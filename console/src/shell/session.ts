import type { QueryClient } from '@tanstack/react-query'
import { apiOf } from '../api/api.js'

/** Ends the session, and forgets what was read with it. */
export async function signOut(queries: QueryClient): Promise<void> {
  await apiOf().post('/auth/logout')
  queries.clear()
}
