import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startBrowser, type Tab } from '../browser.js'
import { type StubConsole, type StubState, stubStates } from '../console-stub/index.js'
import type { Screen } from './screens.js'

export const schemes = ['light', 'dark'] as const
export const widths = [390, 1_280, 1_920] as const
export type Scheme = (typeof schemes)[number]

/** One page in one state, width and color scheme. */
export interface Shot {
  screen: string
  state: StubState
  width: number
  scheme: Scheme
  file: string
}

export interface FaultyShot {
  shot: string
  faults: readonly string[]
}

export const galleryFolder = fileURLToPath(new URL('../../../.opsplane/gallery/', import.meta.url))
const heights: Readonly<Record<number, number>> = { 390: 844, 1280: 800, 1920: 1_080 }

/** Smaller shifts come from a digit of a time or the label of the stream's state, whose widths vary. */
const leastShift = 0.0005

/** States in which a page shows rows or details. */
const full: ReadonlySet<StubState> = new Set(['one', 'some', 'many', 'long', 'stale'])
const signs: Partial<Record<StubState, string>> = {
  loading: '[aria-busy="true"]',
  // A record that is not there is a heading or an alert.
  empty: 'h1, h2, [role="alert"]',
  error: '[role="alert"]',
  forbidden: '[role="alert"]',
}

/** Records layout shifts that were not caused by user input. */
const watchShifts = `window.shifted = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput && entry.value > 0)
    window.shifted.push({ value: entry.value, what: entry.sources.map(({ node }) => (node?.className ?? node?.nodeName) || String(node?.nodeName)).join(' ') });
}).observe({ type: 'layout-shift', buffered: true });`

/** No page contains such elements, so if one exists, text was interpreted as markup. */
const madeMarkup =
  'document.querySelector("img, b, script:not([src]), [onerror]") !== null || "isOpen" in window'

interface GalleryOptions {
  stub: StubConsole
  screens: readonly Screen[]
  states?: readonly StubState[]
  widths?: readonly number[]
  schemes?: readonly Scheme[]
  /** Nothing is written without a folder. */
  folder?: string
}

/** Opens pages in their states, widths and color schemes; returns the screenshots, and the problems found in each. */
export async function inspectScreens(
  options: GalleryOptions,
): Promise<{ shots: Shot[]; faulty: FaultyShot[] }> {
  const { stub, screens, states = stubStates, widths: wide = widths } = options
  const browser = await startBrowser()
  const [shots, faulty]: [Shot[], FaultyShot[]] = [[], []]
  try {
    for (const state of states)
      for (const width of wide) {
        const viewport = { width, height: heights[width] ?? 800 }
        const tab = await browser.open({ viewport })
        await tab.page.addInitScript(watchShifts)
        for (const screen of screens)
          if ((screen.states ?? stubStates).includes(state))
            await inspectScreen(tab, stub, screen, state, width, options, { shots, faulty })
        await tab.page.context().close()
      }
  } finally {
    await browser.close()
  }
  return { shots, faulty }
}

async function inspectScreen(
  tab: Tab,
  stub: StubConsole,
  screen: Screen,
  state: StubState,
  width: number,
  { schemes: colours = schemes, folder }: GalleryOptions,
  { shots, faulty }: { shots: Shot[]; faulty: FaultyShot[] },
): Promise<void> {
  const { page } = tab
  const name = `${screen.name} ${state} ${width}`
  const found: string[] = []
  try {
    await page.context().clearCookies()
    if (!/^\/(sign-in|reset|invitation)/.test(screen.path))
      await page.context().addCookies(stub.cookiesFor(state))
    await page.emulateMedia({ colorScheme: colours[0] ?? 'light' })
    await page.goto('about:blank')
    await page.goto(`${stub.origin}${screen.path}`)
    const sign = full.has(state) ? screen.ready : (signs[state] ?? 'h1, h2')
    // If a detail fills the page, the hidden list behind it has the same elements.
    await page.locator(sign).filter({ visible: true }).first().waitFor({ timeout: 10_000 })
    if (state === 'stale' && !screen.isStill) await makeStale(tab, stub)
    await page.evaluate(
      'document.fonts.ready.then(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(0)))))',
    )
  } catch (error) {
    found.push(`is not shown: ${String(error).split('\n')[0]}`)
  }
  for (const scheme of colours) {
    await page.emulateMedia({ colorScheme: scheme })
    if (folder !== undefined) {
      mkdirSync(folder, { recursive: true })
      const file = join(folder, `${screen.name}.${state}.${width}.${scheme}.png`)
      await page.screenshot({ path: file, animations: 'disabled' })
      shots.push({ ...{ screen: screen.name, state, width, scheme, file } })
    }
    found.push(...(await tab.faults()).map((fault) => `${scheme}: ${fault}`))
  }
  const shifts = (await page.evaluate('window.shifted')) as { value: number; what: string }[]
  for (const { value, what } of shifts)
    if (value >= leastShift) found.push(`shifts by ${value.toFixed(4)}: ${what}`)
  if (await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth'))
    found.push('scrolls sideways')
  if (await page.evaluate(madeMarkup)) found.push('shows a text as markup')
  found.push(...tab.problems.splice(0))
  if (found.length > 0) faulty.push({ shot: name, faults: found })
}

/** Stops all responses; the displayed content stays. */
async function makeStale({ page }: Tab, stub: StubConsole): Promise<void> {
  await page.locator('.live[data-liveness="live"]').first().waitFor({ state: 'attached', timeout: 10_000 })
  await page.context().addCookies(stub.cookiesFor('error'))
  const errorResponse = page.waitForResponse((response) => response.status() === 500, { timeout: 10_000 })
  stub.send('reset', {})
  await errorResponse
}
