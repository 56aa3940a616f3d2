import { eventAt, type StubConsole } from '@opsplane/test-e2e/console-stub'
import type { Page } from 'playwright-core'
import { percentile } from '../child.js'
import type { Figure } from '../report.js'
import { openPage } from './browser-page.js'

const goals = { interactionMs: 100, deliveryMs: 150 }
const slowdown = 4
const eventsPerSecond = 20
const rounds = 20

const watchInteractions = `window.interactions = new Map();
new PerformanceObserver((list) => {
  for (const { interactionId, duration } of list.getEntries()) if (interactionId)
    interactions.set(interactionId, Math.max(interactions.get(interactionId) ?? 0, duration));
}).observe({ type: 'event', durationThreshold: 16, buffered: true })`

/** Time from a press to the next frame, with the CPU throttled to a quarter of its speed, while events arrive. */
async function measurePaint(stub: StubConsole): Promise<Figure> {
  const { page, devtools, close } = await openPage(stub, 'many', 'events')
  await page.evaluate(watchInteractions)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
  let seq = 0
  const arriving = setInterval(() => {
    stub.send('event', { ...eventAt(0), requestId: `req-arriving-${seq++}` })
  }, 1_000 / eventsPerSecond)
  try {
    for (let round = 0; round < rounds; round++) {
      await page.keyboard.press('j')
      await page
        .locator('.list-row .row-link')
        .nth(round % 8)
        .click()
      await page.locator('.detail-body .facts').waitFor()
      await page.keyboard.press('j')
      await page.keyboard.press('k')
      await page.keyboard.press('Escape')
    }
    const durations = (await page.evaluate(
      'new Promise((resolve) => setTimeout(() => resolve([...interactions.values()]), 500))',
    )) as number[]
    const p95 = percentile(durations, 0.95)
    return {
      name: `interaction to next paint, ${slowdown} × slower, ${eventsPerSecond} events/s`,
      value: `p95 ${p95.toFixed(0)} ms of ${durations.length}`,
      goal: `p95 < ${goals.interactionMs} ms`,
      met: p95 < goals.interactionMs,
    }
  } finally {
    clearInterval(arriving)
    await close()
  }
}

/** Time from pressing a row until its details are painted, in milliseconds. */
const openRow = (page: Page, index: number) =>
  page.evaluate(
    `(async () => {
    const link = document.querySelectorAll('.list-row .row-link')[${index}]
    const id = link.getAttribute('href').split('/').at(-1).split('?')[0]
    const begun = performance.now()
    link.click()
    while (document.querySelector('.detail-body .facts')?.textContent.includes(id) !== true)
      await new Promise((resolve) => requestAnimationFrame(resolve))
    return performance.now() - begun
  })()`,
  ) as Promise<number>

/** Time to open a delivery after its page has been loaded once before. */
async function measureOpening(stub: StubConsole): Promise<Figure> {
  const { page, close } = await openPage(stub, 'many', 'deliveries')
  try {
    const times: number[] = []
    for (let index = 0; index < rounds; index++) times.push(await openRow(page, index % 12))
    const p95 = percentile(times.slice(2), 0.95)
    return {
      name: 'a delivery opens',
      value: `p95 ${p95.toFixed(0)} ms, median ${percentile(times.slice(2), 0.5).toFixed(0)} ms`,
      goal: `< ${goals.deliveryMs} ms`,
      met: p95 < goals.deliveryMs,
    }
  } finally {
    await close()
  }
}

export async function measureInteractions(stub: StubConsole, log: (text: string) => void): Promise<Figure[]> {
  log('Pressing keys and rows while events arrive…')
  const paint = await measurePaint(stub)
  log('Opening deliveries…')
  return [paint, await measureOpening(stub)]
}
