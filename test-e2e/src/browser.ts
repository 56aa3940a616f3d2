import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BrowserContextOptions, type CDPSession, chromium, type Page } from 'playwright-core'
import { z } from 'zod'

const programs = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Path of a Chromium (override with CHROMIUM); tests that need one are skipped if there is none. */
export const chromiumPath =
  process.env.CHROMIUM ??
  (process.env.PATH ?? '')
    .split(delimiter)
    .flatMap((directory) => programs.map((program) => join(directory, program)))
    .find(existsSync)

const screenshots = fileURLToPath(new URL('../screenshots/', import.meta.url))
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const Violations = z.array(
  z.object({ id: z.string(), impact: z.string().nullable(), nodes: z.array(z.object({ html: z.string() })) }),
)

/** A separate tab that records errors and requests. */
export interface Tab {
  page: Page
  /** Errors thrown by scripts, and violations of the content security policy. */
  problems: string[]
  /** Requests answered with an error, as shown in the browser's console. */
  refusals: string[]
  /** URLs of all requests. */
  requests: string[]
  /** Saved below test-e2e/screenshots. */
  screenshot(name: string): Promise<void>
  /** Serious and critical violations that axe finds, each with the affected elements. */
  faults(): Promise<string[]>
  /**
   * For functions that playwright lacks. The only devtools session: ending another one would remove its virtual
   * authenticators.
   */
  devtools: CDPSession
}

export async function startBrowser() {
  // Without a sandbox, which is not available to root: the browser only loads pages of the platform.
  const browser = await chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] })
  const open = async (options: BrowserContextOptions = {}): Promise<Tab> => {
    const context = await browser.newContext({
      ...{ locale: 'en-GB', timezoneId: 'UTC', viewport: { width: 1_100, height: 800 } },
      ...options,
    })
    const page = await context.newPage()
    page.setDefaultTimeout(60_000)
    const [problems, refusals, requests]: [string[], string[], string[]] = [[], [], []]
    page.on('pageerror', ({ message }) => problems.push(message))
    page.on('console', (message) => {
      if (message.type() !== 'error') return
      const isRefusal = message.text().startsWith('Failed to load resource')
      if (isRefusal) refusals.push(new URL(message.location().url).pathname)
      else problems.push(message.text())
    })
    page.on('request', (request) => requests.push(request.url()))
    const devtools = await context.newCDPSession(page)
    const faults = () => faultsOf(devtools)
    return { page, problems, refusals, requests, screenshot: keeper(page), faults, devtools }
  }
  return { open, close: () => browser.close() }
}

function keeper(page: Page): Tab['screenshot'] {
  return async (name) => {
    mkdirSync(screenshots, { recursive: true })
    await page.screenshot({ path: join(screenshots, `${name}.png`), fullPage: true })
  }
}

/** Injected through devtools, because the page's policy would refuse a foreign script. */
async function faultsOf(devtools: CDPSession): Promise<string[]> {
  const evaluate = (expression: string) =>
    devtools.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
  // Checked first: the script stays loaded as long as the document, and is slow to parse.
  const isThere = await evaluate("typeof axe === 'object'")
  if (isThere.result.value !== true) await evaluate(`${axe};0`)
  const answer = await evaluate(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => JSON.stringify(violations))",
  )
  return Violations.parse(JSON.parse(String(answer.result.value)))
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** Starts another site, with one page that shows a given address in a frame. */
export async function startPortal() {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://portal.test')
    const source = (searchParams.get('frame') ?? '').replaceAll('&', '&amp;').replaceAll('"', '&quot;')
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end(
      `<!doctype html><title>Portal</title><iframe src="${source}" width="900" height="700"></iframe>`,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    /** URL of the page that shows an address. */
    showing: (address: string) => `${origin}/?${new URLSearchParams({ frame: address })}`,
    stop: () => new Promise((resolve) => server.close(resolve)),
  }
}
