import { queryOptions } from '@tanstack/react-query'

/** The script that a newly loaded page would use. If it differs from the script of this page, a newer build is available. */
export const versionQuery = queryOptions({
  queryKey: ['version'],
  queryFn: async ({ signal }): Promise<string> => {
    const response = await fetch('/console/version', { signal })
    if (!response.ok) throw new Error(`The version was answered by ${response.status}.`)
    return ((await response.json()) as { script: string }).script
  },
  // Also refetched when the tab regains the focus.
  staleTime: 600_000,
})

/** The script of the current page. */
export const ownScript = (page: Pick<Document, 'querySelector'>): string | null | undefined =>
  page.querySelector('script[type="module"]')?.getAttribute('src')
