import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BrowserContextOptions, type CDPSession, chromium, type Page } from 'playwright-core'
import { z } from 'zod'

const programs = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Where a Chromium is (CHROMIUM names another place); the tests that need one are skipped without it. */
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

/** A tab of its own, that notes what goes wrong in it and what it asks for. */
export interface Tab {
  page: Page
  /** What scripts have thrown, and what the content security policy has refused. */
  problems: string[]
  /** Requests that were answered by an error, as the browser's console shows them. */
  refusals: string[]
  /** URLs of all requests. */
  requests: string[]
  /** Kept below test-e2e/screenshots. */
  screenshot(name: string): Promise<void>
  /** What axe finds to be a serious or critical fault, each with the elements it is about. */
  faults(): Promise<string[]>
  /** What playwright has no words for: the one session there is, as the end of another takes virtual authenticators along. */
  devtools: CDPSession
}

export async function startBrowser() {
  // Without a sandbox of its own, which root has none of: it sees pages of the platform alone.
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

/** Injected past the page's policy, which would refuse a script from elsewhere. */
async function faultsOf(devtools: CDPSession): Promise<string[]> {
  const evaluate = (expression: string) =>
    devtools.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
  // It stays for as long as its document does, and takes long to be read.
  const isThere = await evaluate("typeof axe === 'object'")
  if (isThere.result.value !== true) await evaluate(`${axe};0`)
  const answer = await evaluate(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => JSON.stringify(violations))",
  )
  return Violations.parse(JSON.parse(String(answer.result.value)))
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** Another site, whose one page shows the address it is asked for in a frame. */
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
    /** The page of the site that shows an address. */
    showing: (address: string) => `${origin}/?${new URLSearchParams({ frame: address })}`,
    stop: () => new Promise((resolve) => server.close(resolve)),
  }
}
