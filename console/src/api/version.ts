import { queryOptions } from '@tanstack/react-query'

/** The script that a page loaded now has: another one than that of this page is of another build. */
export const versionQuery = queryOptions({
  queryKey: ['version'],
  queryFn: async ({ signal }): Promise<string> => {
    const response = await fetch('/console/version', { signal })
    if (!response.ok) throw new Error(`The version was answered by ${response.status}.`)
    return ((await response.json()) as { script: string }).script
  },
  // Also read when the tab gets the focus again.
  staleTime: 600_000,
})

/** Of this page. */
export const ownScript = (page: Pick<Document, 'querySelector'>): string | null | undefined =>
  page.querySelector('script[type="module"]')?.getAttribute('src')
