import {
  type AppActionRequest,
  type AppDataAnswer,
  type AppDataRequest,
  type Component,
  PageInput,
} from '@opsplane/contracts'
import type { ActionHost } from './actions.js'
import type { FormComponent } from './needs.js'
import { PageStore } from './store.js'
import type { PageStoreOptions } from './store-options.js'

type Requests = AppDataRequest['requests']
type Results = AppDataAnswer['results']

const shown = { value: null, nextCursor: null }
export const rowsShown = (rows: Record<string, unknown>[]) => ({ ...shown, rows })

/** A store whose requests stay pending until the test answers them. Each row contains its source and parameters. */
export function createStore(components: unknown[], options: Partial<PageStoreOptions> = {}) {
  const page = PageInput.parse({ slug: 'page', title: 'Page', components })
  const asked: { requests: Requests; answer(results?: Results): void }[] = []
  const looks: (() => void)[] = []
  const store = new PageStore({
    page: { ...page, params: {} },
    user: null,
    load: (requests) =>
      new Promise((resolve) => {
        const own = () => Object.fromEntries(requests.map(({ key, ...row }) => [key, rowsShown([row])]))
        asked.push({ requests, answer: (results) => resolve(results ?? own()) })
        for (const look of looks) look()
      }),
    ...options,
  })
  const until = (isSo: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = () => {
        if (isSo()) resolve()
      }
      store.subscribe(look)
      looks.push(look)
      look()
    })
  return { store, asked, until, components: page.components }
}

/** A page with a form for the single, already loaded record of a source. */
export async function createForm(record: Record<string, unknown>, form: Record<string, unknown>) {
  const current = { record }
  const { store, until, components } = createStore([{ type: 'form', id: 'edit', label: 'Edit', ...form }], {
    load: async (requests) =>
      Object.fromEntries(requests.map(({ key }) => [key, rowsShown([current.record])])),
  })
  await store.start()
  await until(() => store.scope.data !== undefined && !isLoading(store))
  await store.refreshNamed('{{ data.record.rows }}')
  return { store, until, current, form: components[0] as FormComponent }
}

const isLoading = ({ scope }: PageStore) =>
  Object.values(scope.data as Record<string, { isLoading: boolean }>).some((each) => each.isLoading)

/** Records the effects of actions. */
export function createHost(answer: unknown = null) {
  const seen: { requests: AppActionRequest[]; messages: string[]; pages: string[] } = {
    ...{ requests: [], messages: [], pages: [] },
  }
  const host: ActionHost = {
    act: async (request) => {
      seen.requests.push(request)
      return answer
    },
    confirm: async () => true,
    announce: (message) => seen.messages.push(message),
    goTo: (page) => seen.pages.push(page),
  }
  return { host, seen }
}

export const findInput = (components: readonly Component[], id: string) => {
  const found = components.find((component) => component.id === id)
  if (!found || !('required' in found)) throw new Error(`there is no input ${id}`)
  return found
}
