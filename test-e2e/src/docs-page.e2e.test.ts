import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { chromiumPath, startBrowser, type Tab } from './browser.js'
import { joinPlatform } from './shared/platform.js'

const inBrowser = chromiumPath === undefined ? describe.skip : describe

inBrowser('the API reference in a browser', () => {
  let browser: Awaited<ReturnType<typeof startBrowser>>
  let tab: Tab
  let page: Page
  let origin: string
  beforeAll(async () => {
    const [platform, started] = await Promise.all([joinPlatform(), startBrowser()])
    browser = started
    origin = platform.info.origin
    // The document includes a service only after the service has described itself for the first time.
    for (const url of Object.values(platform.urls)) await fetch(`${url}/internal/openapi.json`)
    tab = await browser.open()
    page = tab.page
  })
  afterAll(() => browser?.close())

  test('starts with guides and the list of topics, and requests no other host', async () => {
    await page.goto(`${origin}/api/v1/docs/`)
    await page.getByRole('heading', { name: 'Signatures' }).waitFor()
    await page.locator('summary', { hasText: 'Incidents' }).waitFor()
    expect(tab.requests.filter((url) => !url.startsWith(origin) && !/^(?:data|blob):/.test(url))).toEqual([])
    expect(tab.problems).toEqual([])
  })

  test('finds an operation, and shows only its topic', async () => {
    await page.getByRole('searchbox').fill('createincident')
    await page.locator('#topics a[href$="/createIncident"]').click()
    await page.locator('#operations-Incidents-createIncident.is-open').waitFor()
    expect(await page.locator('#operations-Webhooks-createWebhook').count()).toBe(0)
  })

  test('shows the events an endpoint receives at the address of the Webhooks topic', async () => {
    await page.goto(`${origin}/api/v1/docs/#/Webhooks`)
    await page.getByText('Receive an event sent to a webhook').waitFor()
    await page.locator('#operations-Webhooks-createWebhook').waitFor()
    expect(tab.problems).toEqual([])
  })

  test('keeps the dark mode chosen by the reader after a reload', async () => {
    await page.getByRole('button', { name: 'Dark or light' }).click()
    const isDark = () => page.evaluate(`document.documentElement.classList.contains('dark-mode')`)
    expect(await isDark()).toBe(true)
    await page.reload()
    await page.locator('summary', { hasText: 'Incidents' }).waitFor()
    expect(await isDark()).toBe(true)
  })
})
