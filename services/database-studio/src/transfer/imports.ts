import type { RecordImport } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import { checkKey } from '../record/bulk.js'
import type { RecordAccess } from '../row/record-access.js'
import type { FileForm } from './import-rows.js'
import type { ImportStore } from './import-store.js'

/** Imports as started and monitored by users. */
export interface Imports {
  begin(
    slug: string,
    query: FileForm & { on?: readonly string[] | undefined },
    file: AsyncIterable<Buffer>,
    meta: RequestMeta,
  ): Promise<RecordImport>
  get(slug: string, id: string, meta: RequestMeta): Promise<RecordImport>
  /** Ends it; written rows stay. */
  cancel(slug: string, id: string, meta: RequestMeta): Promise<RecordImport>
}

export function createImports({
  access,
  store,
  wake,
}: {
  access: RecordAccess
  store: ImportStore
  /** Called when an import becomes due. */
  wake(): void
}): Imports {
  /**
   * Restricts an import to its creator if the table has row rules: its errors mention
   * records that others may not see.
   */
  const onlyBy = async (slug: string, meta: RequestMeta): Promise<string | undefined> => {
    const { readRule } = await access.open(slug, meta)
    return readRule.length > 0 ? meta.principal.actor.id : undefined
  }

  return {
    async begin(slug, { format, delimiter, on }, file, meta) {
      const resolvedTable = await access.open(slug, meta)
      await access.refuseFull(resolvedTable)
      if (on) checkKey(resolvedTable, on, { in: 'query', path: '/on' })
      const begun = await store.upload({ table: slug, format, delimiter, on }, file, meta)
      wake()
      return begun
    },
    get: async (slug, id, meta) => store.get(id, slug, meta.tenant, await onlyBy(slug, meta)),
    cancel: async (slug, id, meta) => store.cancel(id, slug, meta.tenant, await onlyBy(slug, meta)),
  }
}
