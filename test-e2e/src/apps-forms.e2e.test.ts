import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import type { Page } from 'playwright-core'
import { chromiumPath, startBrowser, type Tab } from './browser.js'
import { formsPages, formsSources, formsTable, ownersTable } from './forms-app.js'
import { type Api, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

type Values = Record<string, unknown> & { id: string; version: number }

const inBrowser = chromiumPath ? describe : describe.skip
inBrowser('forms of apps in a browser', () => {
  let platform: SharedPlatform
  let browser: Awaited<ReturnType<typeof startBrowser>>
  let api: Api
  let appId: string
  let owners: string[]
  let url: string

  beforeAll(async () => {
    ;[platform, browser] = await Promise.all([joinPlatform(), startBrowser()])
    api = apiClient(platform.info)
    await make('/tables', ownersTable)
    await make('/tables', formsTable)
    owners = []
    for (const name of ['Ada', 'Émile', 'Zoë Müller'])
      owners.push((await make('/tables/form_owners/records', { name })).id)
    appId = (await make('/apps', { slug: 'forms', name: 'Forms' })).id
    for (const source of formsSources) await make(`/apps/${appId}/data-sources`, source)
    for (const page of formsPages) await make(`/apps/${appId}/pages`, page)
    await make(`/apps/${appId}/deploy`, {})
    url = `${new URL(platform.info.baseUrl).origin}/apps/${platform.info.workspace}/forms`
  })
  afterAll(() => browser?.close())

  async function make<T = Values>(path: string, body: object): Promise<T> {
    const answer = await api<{ data: T }>('POST', path, { body })
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }
  const saved = async (id: string) =>
    (await api<{ data: Values }>('GET', `/tables/form_values/records/${id}`)).body.data

  const given = () => ({
    ...{ title: 'First', price: '12345678901234567890.0123456789', big: '9007199254740993', count: 7 },
    ...{ agreed: null, day: '2026-03-04', due: '2026-03-04T23:11:12.345Z', seen: '2026-03-04T23:11:12.345Z' },
    ...{ extra: { list: [1, 'two'] }, state: 'gone', owner: owners[2] },
  })
  const record = () => make('/tables/form_values/records', given())

  async function logIn(page: Page) {
    await page.getByLabel('E-mail').fill(platform.info.email)
    await page.getByLabel('Password').fill(platform.info.password)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('button', { name: 'Log out' }).waitFor()
  }
  async function opened(path: string): Promise<Tab> {
    // East of Greenwich, where this instant is already on the next day.
    const tab = await browser.open({ timezoneId: 'Asia/Tokyo' })
    await tab.page.goto(`${url}${path}`)
    await logIn(tab.page)
    return tab
  }
  const input = (page: Page, name: string) =>
    page.getByRole('form').or(page.locator('form')).getByLabel(name, { exact: false }).first()
  const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click()

  /** The input for each field, and the value that must be saved. */
  const changes: [field: string, change: (page: Page) => Promise<unknown>, value: unknown][] = [
    ['title', (page) => input(page, 'title').fill('Second'), 'Second'],
    ['price', (page) => input(page, 'price').fill('-1234567890.0123456789'), '-1234567890.0123456789'],
    ['big', (page) => input(page, 'big').press('ArrowUp'), '9007199254740994'],
    ['count', (page) => input(page, 'count').fill(''), null],
    ['agreed', (page) => input(page, 'agreed').check(), true],
    ['day', (page) => input(page, 'day').fill('2026-03-06'), '2026-03-06'],
    ['due', (page) => input(page, 'due').fill('2026-03-05T08:11:13.345'), '2026-03-04T23:11:13.345Z'],
    ['seen', (page) => input(page, 'seen').fill('2026-03-07'), '2026-03-06T23:11:12.345Z'],
    ['extra', (page) => input(page, 'extra').fill('{"list":[]}'), { list: [] }],
    ['state', (page) => input(page, 'state').selectOption('new'), 'new'],
  ]
  test.each(changes)('saving a form changes only the edited field: %s', async (field, change, value) => {
    const { id } = await record()
    const { page, problems } = await opened(`/edit#id=${id}`)
    await waitFor(async () => (await input(page, 'title').inputValue()) === 'First')
    await change(page)
    await save(page)
    await page.getByText('Saved.').waitFor()
    expect(await saved(id)).toMatchObject({ ...given(), [field]: value, version: 2 })
    expect(problems).toEqual([])
    await page.close()
  })

  test('a form displays the values of its record, and a reference field searches for another record', async () => {
    const { id } = await record()
    const { page, faults, screenshot } = await opened(`/edit#id=${id}`)
    await waitFor(async () => (await input(page, 'title').inputValue()) === 'First')
    const shown = (name: string) => input(page, name).inputValue()
    expect(await shown('price')).toBe('12345678901234567890.0123456789')
    expect(await shown('seen')).toBe('2026-03-05')
    expect(await shown('due')).toBe('2026-03-05T08:11:12.345')
    expect(await shown('state')).toBe('gone')
    expect(await page.evaluate("document.querySelector('input[type=checkbox]').indeterminate")).toBe(true)
    await page.getByText('12,345,678,901,234,567,890.0123456789').waitFor()
    const owner = page.getByLabel('owner (optional)', { exact: true })
    await page.getByRole('option', { name: 'Zoë Müller' }).waitFor({ state: 'attached' })
    expect(await owner.inputValue()).toBe(owners[2])
    await page.getByLabel('Search among the options of owner').fill('emile')
    await page.getByRole('option', { name: 'Émile' }).waitFor({ state: 'attached' })
    await page.getByRole('option', { name: 'Ada' }).waitFor({ state: 'detached' })
    await owner.selectOption({ label: 'Émile' })
    await screenshot('form')
    expect(await faults()).toEqual([])
    await save(page)
    await page.getByText('Saved.').waitFor()
    expect(await saved(id)).toMatchObject({ ...given(), owner: owners[1] })
    await page.close()
  })

  test('after a concurrent change by another user, the user compares both values and chooses for each field', async () => {
    const { id } = await record()
    const { page, faults, screenshot } = await opened(`/edit#id=${id}`)
    await waitFor(async () => (await input(page, 'title').inputValue()) === 'First')
    await input(page, 'title').fill('Mine')
    await input(page, 'price').fill('1.5')
    await input(page, 'count').fill('8')
    await api('PATCH', `/tables/form_values/records/${id}`, {
      body: { title: 'Theirs', price: '2.5', state: 'old' },
    })
    await save(page)
    await page
      .getByRole('heading', { name: 'Someone else saved this record while you were editing' })
      .waitFor()
    expect(await input(page, 'title').inputValue()).toBe('Mine')
    await page.getByRole('group', { name: 'price' }).getByLabel('Their value').check()
    await screenshot('comparison')
    expect(await faults()).toEqual([])
    await page.getByRole('button', { name: 'Save what I have chosen' }).click()
    await page.getByText('Saved.').waitFor()
    expect(await saved(id)).toMatchObject({
      ...given(),
      ...{ title: 'Mine', price: '2.5000000000', count: 8, state: 'old', version: 3 },
    })
    await page.close()
  })

  test('input survives a lost session and a redeployment, and a retried submit creates only one record', async () => {
    const { page, screenshot } = await opened('/new')
    await input(page, 'title').fill('Kept')
    await input(page, 'price').fill('12345678901234567890.0123456789')
    await page.evaluate("sessionStorage.setItem('opsplane.session', 'ops_gone')")
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('what you had typed is kept').waitFor()
    await logIn(page)
    expect(await input(page, 'title').inputValue()).toBe('Kept')

    // The record is created, but the response is lost.
    await page.route('**/-/actions', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('alert').filter({ hasText: 'cannot be reached' }).waitFor()
    await page.unroute('**/-/actions')
    await make(`/apps/${appId}/deploy`, {})
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('This app has been updated').waitFor()
    expect(await input(page, 'title').inputValue()).toBe('Kept')
    await screenshot('redeployed')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Kept is there.').waitFor()
    const filter = encodeURIComponent(JSON.stringify({ title: 'Kept' }))
    const { body } = await api<{ data: Values[] }>('GET', `/tables/form_values/records?filter=${filter}`)
    expect(body.data).toMatchObject([{ price: '12345678901234567890.0123456789' }])

    // Submitting the same values again intentionally creates another record.
    await input(page, 'title').fill('Kept')
    await page.getByRole('button', { name: 'Create' }).click()
    await waitFor(async () => {
      const again = await api<{ data: Values[] }>('GET', `/tables/form_values/records?filter=${filter}`)
      return again.body.data.length === 2
    })
    await page.close()
  })

  test('leaving a page with unsaved input asks for confirmation', async () => {
    const { page, screenshot } = await opened('/new')
    const heading = (name: string) => page.getByRole('heading', { level: 1, name })
    await page.getByRole('link', { name: 'Edit' }).click()
    await heading('Edit').waitFor()
    await page.goBack()
    await heading('New record').waitFor()
    await input(page, 'title').fill('Unsaved')
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('dialog').waitFor()
    await screenshot('leaving')
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(await input(page, 'title').inputValue()).toBe('Unsaved')
    await page.goForward()
    await page.getByRole('dialog').waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    expect(page.url()).toContain('/new')
    const closed = page.waitForEvent('dialog').then((dialog) => dialog.dismiss())
    await page.close({ runBeforeUnload: true })
    await closed
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Yes' }).click()
    await heading('Edit').waitFor()
    await page.getByRole('link', { name: 'New record' }).click()
    expect(await input(page, 'title').inputValue()).toBe('')
    await page.close()
  })

  test('a failing expression shows an error in its place, and sends no data request', async () => {
    await record()
    const { page, requests, faults, screenshot } = await opened('/failing')
    const alerts = page.getByRole('alert')
    await waitFor(async () => (await alerts.count()) === 4)
    await page.getByRole('alert').filter({ hasText: 'This data was not loaded.' }).waitFor()
    expect(await page.getByRole('cell').count()).toBe(0)
    expect(await page.getByText('Not to be seen').count()).toBe(0)
    expect(requests.filter((each) => each.endsWith('/-/data'))).toEqual([])
    await screenshot('failed-expressions')
    expect(await faults()).toEqual([])
    await page.getByRole('textbox', { name: 'Count' }).fill('7')
    await page.getByRole('cell', { name: 'First' }).first().waitFor()
    await page.close()
  })
})
