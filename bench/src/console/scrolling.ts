import type { StubConsole } from '@opsplane/test-e2e/console-stub'
import type { Figure } from '../report.js'
import { openPage } from './browser-page.js'

const targetRows = 100_000
const goals = { rows: 100, heapMb: 150 }

interface Scrolled {
  /** Maximum number of rows in the document. */
  nodes: number
  /** Rows of the list that are loaded. */
  rows: number
}

/** Scrolls down one screen at a time as rows arrive, until `rows` rows are loaded. */
const scrollDown = (rows: number) => `(async () => {
  const scroll = document.querySelector('.list-scroll')
  let nodes = 0
  for (;;) {
    scroll.scrollTop = scroll.scrollHeight
    await new Promise((resolve) => requestAnimationFrame(resolve))
    nodes = Math.max(nodes, document.querySelectorAll('.list-row').length)
    const known = Math.round(scroll.scrollHeight / 32)
    if (known >= ${rows}) return { nodes, rows: known }
  }
})()`

/**
 * Scrolls through a list of 100,000 rows that is loaded while scrolling: measures the rows the browser keeps, and
 * checks that pages out of sight are evicted.
 */
export async function measureScrolling(stub: StubConsole, log: (text: string) => void): Promise<Figure[]> {
  log(`Scrolling through ${targetRows} events…`)
  const { page, devtools, close } = await openPage(stub, 'many', 'events')
  try {
    const begun = Date.now()
    const scrolled = (await page.evaluate(scrollDown(targetRows))) as Scrolled
    const seconds = (Date.now() - begun) / 1_000
    await devtools.send('HeapProfiler.enable')
    await devtools.send('HeapProfiler.collectGarbage')
    await devtools.send('Performance.enable')
    const { metrics } = await devtools.send('Performance.getMetrics')
    const heapMb = (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN) / 1e6
    // Evicted pages are fetched again when they come into view.
    const requestedUrls: string[] = []
    page.on('request', (request) => requestedUrls.push(request.url()))
    await page.evaluate(`document.querySelector('.list-scroll').scrollTop = ${(32 * scrolled.rows) / 2}`)
    await page.locator('.list-row:not(.skeleton-row)').first().waitFor()
    const isEvicted = requestedUrls.some((url) => url.includes('/audit'))
    return [
      {
        name: `row nodes over ${scrolled.rows} rows`,
        value: `${scrolled.nodes}`,
        goal: `≤ ${goals.rows}`,
        met: scrolled.nodes <= goals.rows,
      },
      {
        name: 'heap after them',
        value: `${heapMb.toFixed(0)} MB in ${seconds.toFixed(0)} s`,
        goal: `< ${goals.heapMb} MB`,
        met: heapMb < goals.heapMb,
      },
      {
        name: 'pages out of sight',
        value: isEvicted ? 'read again' : 'kept',
        goal: 'evicted',
        met: isEvicted,
      },
    ]
  } finally {
    await close()
  }
}
