import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import type { Page } from 'playwright-core'
import { chromiumPath, startBrowser, startPortal, type Tab } from './browser.js'
import { createCliRunner } from './cli.js'
import { galleryPage, gallerySources } from './gallery-app.js'
import { type Api, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

interface Data<T> {
  data: T
}
interface Installed {
  id: string
  url: string
}

const inBrowser = chromiumPath ? describe : describe.skip
inBrowser('apps in a browser (with chromium: apt-get install chromium, or CHROMIUM names one)', () => {
  let platform: SharedPlatform
  let browser: Awaited<ReturnType<typeof startBrowser>>
  let portal: Awaited<ReturnType<typeof startPortal>>
  let api: Api
  let register: Installed
  let intake: Installed

  beforeAll(async () => {
    ;[platform, browser, portal] = await Promise.all([joinPlatform(), startBrowser(), startPortal()])
    const { baseUrl, apiKey, workspace } = platform.info
    api = apiClient(platform.info)
    const environment = { OPSPLANE_URL: baseUrl, OPSPLANE_API_KEY: apiKey, OPSPLANE_WORKSPACE: workspace }
    const opsplane = createCliRunner(environment)
    register = await opsplane.json('apps', 'install-sample', 'asset-register', '--embeddable')
    intake = await opsplane.json('apps', 'install-sample', 'incident-intake')
    for (const [serial_number, name, kind] of [
      ['L-1', 'Small laptop', 'laptop'],
      ['P-1', 'Old phone', 'phone'],
    ])
      await make('/tables/asset_register/records', { serial_number, name, kind })
  })
  afterAll(async () => {
    await browser?.close()
    await portal?.stop()
  })

  async function make<T = { id: string }>(path: string, body: object): Promise<T> {
    const answer = await api<Data<T>>('POST', path, { body })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }

  /** Opens a tab in which the owner is signed in and sees the app. */
  async function opened(url: string, options?: Parameters<typeof browser.open>[0]): Promise<Tab> {
    const tab = await browser.open(options)
    await tab.page.goto(url)
    await tab.page.getByLabel('E-mail').fill(platform.info.email)
    await tab.page.getByLabel('Password').fill(platform.info.password)
    await tab.page.getByRole('button', { name: 'Log in' }).click()
    await tab.page.getByRole('button', { name: 'Log out' }).waitFor()
    return tab
  }
  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true })
  const fits = (page: Page) =>
    page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth')

  test('a wrong password is refused, and a right one opens the requested page until the user logs out', async () => {
    const { page, faults, screenshot } = await browser.open()
    await page.goto(`${register.url}/new`)
    await page.getByLabel('E-mail').fill(platform.info.email)
    await page.getByLabel('Password').fill('not this')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(await faults()).toEqual([])
    await screenshot('login')
    await page.getByLabel('Password').fill(platform.info.password)
    await page.keyboard.press('Enter')
    await heading(page, 'New asset').waitFor()
    await page.reload()
    await heading(page, 'New asset').waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await heading(page, 'Log in').waitFor()
    await page.reload()
    await heading(page, 'Log in').waitFor()
  })

  test('an asset is registered, found, changed and deleted', async () => {
    const { page, problems, faults, screenshot } = await opened(register.url)
    await page.getByRole('link', { name: 'New asset' }).click()
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByText('Fill this in.').first().waitFor()
    expect(await faults()).toEqual([])
    await screenshot('asset-missing')
    await page.getByLabel('Name').fill('Large laptop')
    await page.getByLabel('Serial number').fill('L-1')
    await page.getByLabel('Kind').selectOption('laptop')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByRole('alert').waitFor()
    await page.getByLabel('Serial number').fill('L-2')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByText('Large laptop is registered.').waitFor()

    await page.getByLabel('Used by').fill('Ada Lovelace')
    await page.getByLabel('Status').selectOption('in_use')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    await page.getByRole('definition').filter({ hasText: 'Ada Lovelace' }).waitFor()
    await screenshot('asset')
    expect(await faults()).toEqual([])

    await page.getByRole('link', { name: 'Assets' }).click()
    await page.getByRole('cell', { name: 'Small laptop' }).waitFor()
    await page.getByLabel('Search by name').fill('arge')
    await page.getByRole('cell', { name: 'Small laptop' }).waitFor({ state: 'detached' })
    await screenshot('assets')
    await page.getByRole('button', { name: 'Large laptop' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').waitFor()
    expect(await faults()).toEqual([])
    await screenshot('confirm')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Yes' }).click()
    await page.getByText('It is deleted.').waitFor()
    await page.getByRole('cell', { name: 'Small laptop' }).waitFor()
    expect(await page.getByRole('cell', { name: 'Large laptop' }).count()).toBe(0)
    expect(problems).toEqual([])
  })

  test('an incident is reported by keyboard alone, and appears in the list of the user’s own incidents', async () => {
    const { page, problems, faults, screenshot } = await opened(intake.url)
    await heading(page, 'Report an incident').waitFor()
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key)
    }
    await page.reload()
    await heading(page, 'Report an incident').waitFor()
    await press('Tab', 'Enter')
    await press('Tab')
    await page.keyboard.type('The printer does not print')
    await press('Tab')
    await page.keyboard.type('Since this morning')
    await press('Tab', 'ArrowDown', 'Tab')
    await page.keyboard.type('I cannot')
    await screenshot('report')
    expect(await faults()).toEqual([])
    await press('Tab', 'Enter')
    await page.getByText(/Thank you\. This is INC-\d+\./).waitFor()
    await page.getByRole('cell', { name: 'The printer does not print' }).waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('My incidents')
    expect(await faults()).toEqual([])
    await screenshot('own')
    const { body } = await api<Data<object[]>>('GET', '/itsm/incidents')
    expect(body.data).toMatchObject([
      { title: 'The printer does not print', impact: 'medium', urgency: 'high', channel: 'portal' },
    ])
    expect(problems).toEqual([])
  })

  test('an app shows its latest deployment, or an earlier one after a rollback', async () => {
    const { page } = await opened(register.url)
    const path = `/apps/${register.id}/pages`
    const { body } = await api<Data<{ id: string; slug: string }[]>>('GET', path)
    const first = body.data.find(({ slug }) => slug === 'assets')
    await api('PATCH', `${path}/${first?.id}`, { body: { title: 'Things' } })
    await page.reload()
    await heading(page, 'Assets').waitFor()
    await make(`/apps/${register.id}/deploy`, { embeddable: true })
    await page.reload()
    await heading(page, 'Things').waitFor()
    await make(`/apps/${register.id}/rollback`, { to: 1, embeddable: true })
    await page.reload()
    await heading(page, 'Assets').waitFor()
  })

  test('another site shows an app only with a valid embed token for its origin', async () => {
    const token = await make<{ id: string; token: string; path: string }>(
      `/apps/${register.id}/embed-token`,
      { origins: [portal.origin], expiresInSeconds: 600 },
    )
    const { page, requests, screenshot } = await browser.open()
    const frame = page.frameLocator('iframe')
    const shown = frame.getByRole('heading', { level: 1 })
    const { origin } = new URL(register.url)
    await page.goto(portal.showing(`${origin}${token.path}`))
    await frame.getByRole('cell', { name: 'Small laptop' }).waitFor()
    await screenshot('embedded')
    expect(await page.context().cookies()).toEqual([])
    expect(
      requests.filter((url) => url.startsWith(origin) && url.split('#')[0]?.includes(token.token)),
    ).toEqual([])

    const changed = `${token.path.slice(0, -8)}AAAAAAAA`
    await page.goto(portal.showing(`${origin}${changed}`))
    await shown.filter({ hasText: 'This is no longer shared' }).waitFor()

    // The browser shows its own page in a frame that is refused.
    const refused = async (showing: string) => {
      await page.goto(showing)
      const isRefused = () => page.frames()[1]?.url().startsWith('chrome-error:')
      await waitFor(isRefused, { message: `${showing} to be refused` })
      expect(await shown.count()).toBe(0)
    }
    await refused(portal.showing(register.url))
    const other = await startPortal()
    await refused(other.showing(`${origin}${token.path}`))
    await other.stop()
    await api('DELETE', `/apps/${register.id}/embed-tokens/${token.id}`)
    await refused(portal.showing(`${origin}${token.path}`))
  })

  test('every component renders, with errors limited to the failing part, on desktop and phone widths', async () => {
    const fails = {
      name: 'Always fails',
      definition: { steps: [{ id: 'no', type: 'fail', message: 'No.' }] },
    }
    const { id: workflow } = await make('/workflows', fails)
    await api('POST', `/workflows/${workflow}/publish`, { body: { activate: true } })
    const { id } = await make('/apps', { slug: 'gallery', name: 'Gallery' })
    for (const source of gallerySources) await make(`/apps/${id}/data-sources`, source)
    await make(`/apps/${id}/pages`, galleryPage)
    await make(`/apps/${id}/deploy`, {})
    const { page, problems, faults, requests, screenshot } = await opened(
      register.url.replace('asset-register', 'gallery'),
    )
    await page.getByRole('cell', { name: 'Small laptop' }).waitFor()
    await page.getByRole('definition').filter({ hasText: 'Unable to cast' }).waitFor()
    expect(await page.getByRole('cell', { name: 'Old phone' }).count()).toBe(0)
    // All data of the page was fetched with one request.
    expect(requests.filter((url) => url.endsWith('/-/data'))).toHaveLength(1)
    await page.getByRole('button', { name: 'Show phones' }).click()
    await page.getByRole('button', { name: 'Yes' }).click()
    await page.getByRole('cell', { name: 'Old phone' }).waitFor()
    expect(requests.filter((url) => url.endsWith('/-/data'))).toHaveLength(2)
    await screenshot('gallery')

    await page.getByLabel('Text', { exact: true }).fill('Fine')
    await page.getByLabel('Number').fill('11')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Enter 10 or less.').waitFor()
    await page.getByLabel('Number').fill('7')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Fine, 7, 2026-03-04T10:00:00.000Z').waitFor()

    await page.getByRole('tab', { name: 'Table' }).focus()
    await page.keyboard.press('ArrowRight')
    await page.getByRole('img', { name: /^Lines/ }).waitFor()
    await screenshot('charts')
    expect(await faults()).toEqual([])
    await page.keyboard.press('End')
    await page.getByRole('alert').filter({ hasText: 'The workflow has failed: No.' }).waitFor()
    await page.getByRole('tab', { name: 'Table' }).click()

    for (const width of [375, 320]) {
      await page.setViewportSize({ width, height: 700 })
      expect(await fits(page)).toBe(true)
    }
    await screenshot('phone')
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await faults()).toEqual([])
    await screenshot('phone-dark')
    expect(problems).toEqual([])
  })
})
