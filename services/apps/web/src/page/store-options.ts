import type { AppDataAnswer, AppDataRequest, AppDefinition, Component } from '@opsplane/contracts'
import type { PageDraft } from './drafts.js'

export interface PageStoreOptions {
  page: { slug: string; components: readonly Component[]; params: Readonly<Record<string, string>> }
  user: AppDefinition['user']
  load(requests: AppDataRequest['requests']): Promise<AppDataAnswer['results']>
  draft?: PageDraft | undefined
  /** Called with the draft whenever the typed values change. */
  keep?(draft: PageDraft): void
}
