import type { TablePatch } from '@opsplane/contracts'
import { readdress } from '@opsplane/http'
import type { PatchedTable } from './apply-patch.js'

const lists = ['columns', 'indexes', 'uniques', 'checks'] as const

/**
 * Rethrows a validation error of a patched definition with the matching place in the patch: the added, changed or
 * renamed part, or else `/columns`, whose changes affect unchanged parts.
 */
export const refuseInPatch =
  (patch: TablePatch, change: Pick<PatchedTable, 'after'>) =>
  (error: unknown): never => {
    throw readdress(error, ({ path }) => ({ path: placeInPatch(path, patch, change) }))
  }

function placeInPatch(path: string, patch: TablePatch, { after }: Pick<PatchedTable, 'after'>): string {
  const [, first = '', place, ...rest] = path.split('/')
  const below = rest.map((part) => `/${part}`).join('')
  const others = patch.columns ? '/columns' : ''
  const list = lists.find((each) => each === first)
  if (!list) return Object.hasOwn(patch, first) ? path : others
  if (place === undefined) return path
  const at = Number(place)
  const added = after[list].length - (patch[list]?.add?.length ?? 0)
  if (at >= added) return `/${list}/add/${at - added}${below}`
  if (list !== 'columns') return others
  const name = after.columns[at]?.name
  const changed = patch.columns?.change?.findIndex(({ to }) => to.name === name) ?? -1
  if (changed >= 0) return `/columns/change/${changed}/to${below}`
  const renamed = patch.columns?.rename?.findIndex(({ to }) => to === name) ?? -1
  return renamed >= 0 ? `/columns/rename/${renamed}/to` : others
}
