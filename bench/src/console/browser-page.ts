import { startBrowser } from '@opsplane/test-e2e/browser'
import type { StubConsole, StubState } from '@opsplane/test-e2e/console-stub'

/** Opens a page of the console, served by the stub, in a dedicated Chromium. */
export async function openPage(stub: StubConsole, state: StubState, area: string) {
  const browser = await startBrowser()
  const { page, devtools } = await browser.open({ viewport: { width: 1_280, height: 800 } })
  await page.context().addCookies(stub.cookiesFor(state))
  await page.goto(`${stub.origin}/w/acme/production/${area}`)
  await page.locator('.list-row').first().waitFor()
  return { page, devtools, close: browser.close }
}
