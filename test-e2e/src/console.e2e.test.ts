import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import type { Page } from 'playwright-core'
import { chromiumPath, startBrowser } from './browser.js'
import { typedClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

/**
 * Opens a page by its keyboard shortcut; repeated if a slow machine exceeded the time the console waits for the
 * second key.
 */
const goByKeys = (page: Page, keys: string, path: RegExp) =>
  waitFor(async () => {
    if (path.test(new URL(page.url()).pathname)) return true
    for (const key of keys) await page.keyboard.press(key)
    return false
  })
const eventList = (page: Page) => page.getByRole('table', { name: 'Events' })

/** Its script sets a flag if a page interprets the text as markup. */
const hostile = '<img src=x onerror="window.isOpen=true"> الطابعة'

const inBrowser = chromiumPath ? describe : describe.skip
inBrowser('the console in a browser (with chromium: apt-get install chromium, or CHROMIUM names one)', () => {
  let platform: SharedPlatform
  let browser: Awaited<ReturnType<typeof startBrowser>>
  let receiver: Receiver
  let ada: ReturnType<typeof typedClient>
  let webhookId: string
  let isMended = false

  beforeAll(async () => {
    ;[platform, browser] = await Promise.all([joinPlatform(), startBrowser()])
    const { key, cert } = platform.certificate
    receiver = await startReceiver({
      tls: { key, cert },
      respond: () =>
        isMended
          ? { status: 200, body: '{"received":true}' }
          : { status: 500, body: JSON.stringify({ error: hostile }), headers: { 'x-note': '<b>hot</b>' } },
    })
    ada = typedClient(platform.info)
    const webhook = { name: `Pager ${hostile}`, url: `${receiver.url}/pager`, events: ['incident.created'] }
    webhookId = (await ada.post('/webhooks', { body: { ...webhook, retries: 0 } })).data.id
    await publishFollower()
    for (const title of [hostile, 'Disk full']) await ada.post('/itsm/incidents', { body: { title } })
    await waitFor(async () => (await deliveries('failed')).length === 2)
  })
  afterAll(async () => {
    await browser?.close()
    await receiver?.stop()
  })

  const deliveries = async (status: 'failed' | 'succeeded') => {
    const params = { path: { id: webhookId }, query: { status: [status] } }
    return (await ada.get('/webhooks/{id}/deliveries', { params })).data
  }
  const open = async (width: number, at: string) => {
    const tab = await browser.open({ viewport: { width, height: 800 } })
    await tab.page.goto(`${platform.info.origin}${at}`)
    return tab
  }
  const signIn = async (page: Page) => {
    await page.getByLabel('E-mail').fill(platform.info.email)
    await page.getByRole('textbox', { name: 'Password' }).fill(platform.info.password)
    await page.keyboard.press('Enter')
  }
  /** Publishes a workflow that is triggered by one of the incidents. */
  async function publishFollower(): Promise<void> {
    const trigger = {
      type: 'event' as const,
      events: ['incident.created'],
      filter: { 'data.title': hostile },
    }
    const definition = { trigger, steps: [{ id: 'note', type: 'transform' as const, value: 'noted' }] }
    const { data: workflow } = await ada.post('/workflows', { body: { name: 'Open a bridge', definition } })
    const params = { path: { id: workflow.id } }
    await ada.post('/workflows/{id}/publish', { params, body: { activate: true } })
  }
  /** Starts a run of a workflow that fails with a message written by another user. */
  async function failRun(): Promise<string> {
    const definition = { steps: [{ id: 'no', type: 'fail' as const, message: hostile }] }
    const { data: workflow } = await ada.post('/workflows', { body: { name: hostile, definition } })
    const params = { path: { id: workflow.id } }
    await ada.post('/workflows/{id}/publish', { params, body: { activate: true } })
    const { data: run } = await ada.post('/workflows/{id}/trigger', {
      params: { ...params, query: { wait: 20 } },
      body: {},
    })
    return run.runId
  }
  const pathTo = (area: string) => `/w/${platform.info.workspace}/production/${area}`

  test('a person on call finds failed deliveries and their cause, and replays them once the endpoint works', async () => {
    const { info } = platform
    const wanted = pathTo('failed')
    const { page, problems, refusals, requests, faults, screenshot } = await open(1_280, wanted)
    // After sign-in the originally requested page is shown.
    await page.getByLabel('E-mail').fill(info.email)
    expect(refusals).toEqual([])
    await page.getByRole('textbox', { name: 'Password' }).fill('not this')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    expect([await faults(), refusals]).toEqual([[], ['/api/v1/auth/session']])
    await signIn(page)

    const failure = page.getByRole('link', { name: 'The endpoint answered 500' })
    await failure.waitFor()
    await page.getByText('Live', { exact: true }).waitFor()
    expect(new URL(page.url()).pathname).toBe(wanted)
    expect(await faults()).toEqual([])
    await screenshot('console-failed')
    await failure.click()
    await page.getByRole('link', { name: 'incident.created' }).first().click()

    const attempts = page.getByRole('tablist', { name: 'Attempts' }).getByRole('tab')
    await attempts.first().waitFor()
    expect(await attempts.count()).toBe(1)
    await page.getByText('Answered 500 at the only attempt. No more are due.').waitFor()
    expect(await faults()).toEqual([])
    await screenshot('console-delivery')

    isMended = true
    await page.getByRole('link', { name: 'Pager' }).last().click()
    await page.getByRole('tab', { name: 'Replay' }).click()
    await page.getByRole('button', { name: 'Replay 2' }).click()
    await page.getByText('Completed').waitFor()
    await page.getByRole('tab', { name: 'Latest deliveries' }).click()
    const latest = page.getByRole('tabpanel', { name: 'Latest deliveries' })
    await waitFor(async () => (await latest.getByText('Succeeded').count()) === 2)
    expect(await faults()).toEqual([])
    await screenshot('console-webhook')
    await goByKeys(page, 'gf', /\/failed$/)
    await page.getByText('No failed deliveries.').waitFor()

    await goByKeys(page, 'ge', /\/events$/)
    await eventList(page).getByRole('link', { name: 'incident.created' }).last().click()
    await page.getByRole('cell', { name: hostile }).first().waitFor()
    await page.getByRole('tab', { name: 'Timeline' }).click()
    await page.getByRole('link', { name: 'Pager' }).first().waitFor()
    await page.getByRole('tab', { name: 'Consumers' }).click()
    const runs = page.getByRole('region', { name: 'Workflows' })
    await runs.getByText('Completed').waitFor()
    expect(await runs.getByRole('link').allTextContents()).toEqual(['Open a bridge'])
    expect(await faults()).toEqual([])
    await screenshot('console-event')

    // A pasted id opens the resource.
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder('Go to a page').fill((await deliveries('succeeded'))[0]?.id ?? '')
    await page.keyboard.press('Enter')
    await page.getByText('Delivered at once: the endpoint answered 200.').waitFor()
    await goByKeys(page, 'ge', /\/events$/)
    await eventList(page).getByRole('link', { name: 'incident.created' }).first().waitFor()

    // New rows are indicated without moving the rows on screen.
    await ada.post('/itsm/incidents', { body: { title: 'Seen as it happens' } })
    await page.getByRole('button', { name: '1 new' }).click()
    await page.getByText('Seen as it happens').waitFor()

    await page.setViewportSize({ width: 390, height: 844 })
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('link', { name: 'Webhooks' }).click()
    await page.getByRole('link', { name: 'Pager' }).waitFor()
    expect(
      await page.evaluate('document.documentElement.scrollWidth <= document.documentElement.clientWidth'),
    ).toBe(true)
    expect(await faults()).toEqual([])
    await screenshot('console-webhooks-phone')

    expect([problems, refusals.slice(1)]).toEqual([[], []])
    expect(requests.filter((url) => !url.startsWith(`${info.origin}/`) && !url.startsWith('data:'))).toEqual(
      [],
    )
    // Signing out removes data that others could see on this machine, and leaves no requests that would fail.
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('button', { name: /owner/i }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.goto(`${info.origin}${wanted}`)
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    expect(refusals.slice(1)).toEqual([])
  })

  test('a delivery updates in every tab without a reload, also when it is retried through the API', async () => {
    isMended = false
    const before = (await deliveries('failed')).map(({ id }) => id)
    await ada.post('/itsm/incidents', { body: { title: 'Watched' } })
    const [watched] = await waitFor(async () => {
      const failed = (await deliveries('failed')).filter(({ id }) => !before.includes(id))
      return failed.length > 0 && failed
    })
    const deliveryId = watched?.id ?? ''
    const { page, problems } = await open(1_280, pathTo(`deliveries/${webhookId}/${deliveryId}`))
    await signIn(page)
    const isThere = async (tab: Page) => {
      await tab.getByText('Answered 500 at the only attempt.').waitFor()
      await tab.getByText('Live', { exact: true }).waitFor()
    }
    await isThere(page)
    const other = await page.context().newPage()
    await other.goto(page.url())
    await isThere(other)
    isMended = true
    const path = { id: webhookId, deliveryId }
    await ada.post('/webhooks/{id}/deliveries/{deliveryId}/retry', { params: { path } })
    for (const each of [page, other])
      await each.getByText('Delivered at attempt 2: the endpoint answered 200.').waitFor()
    expect(problems).toEqual([])
    // One of the tabs reads the stream; if it is closed, the other one takes over.
    await goByKeys(other, 'ge', /\/events$/)
    await eventList(other).getByRole('link', { name: 'incident.created' }).first().waitFor()
    await page.close()
    await ada.post('/itsm/incidents', { body: { title: 'After it' } })
    await other.getByRole('button', { name: /new$/ }).waitFor()
  })

  test('text written by others is never rendered as markup on any page', async () => {
    const [failed] = await deliveries('failed')
    const runId = await failRun()
    const { data: events } = await ada.get('/audit', { params: { query: { type: 'incident.created' } } })
    const eventId = events.find(({ resource }) => resource.displayName === hostile)?.id
    await ada.post('/events/topics/{name}/publish', {
      ...{ params: { path: { name: 'notes' } }, body: { type: 'note.made', payload: { text: hostile } } },
    })
    const { page, problems } = await open(1_280, pathTo('failed'))
    await signIn(page)
    await page.getByText('Live', { exact: true }).waitFor()
    const detail = `deliveries/${webhookId}/${failed?.id}`
    const pages: [area: string, shown: string][] = [
      ['deliveries', hostile],
      [detail, hostile],
      [detail, '<b>hot</b>'],
      ['webhooks', hostile],
      [`webhooks/${webhookId}`, hostile],
      [`webhooks/${webhookId}?tab=replay`, hostile],
      [`webhooks/${webhookId}?tab=signature`, hostile],
      ['events', hostile],
      ...['changes', 'deliveries', 'related', 'raw'].map((tab): [string, string] => [
        ...([`events/${eventId}?tab=${tab}`, hostile] as const),
      ]),
      ['audit', hostile],
      ['topics?name=notes', hostile],
      ['catalogue/incident.created', 'incident.created'],
      [`record/${runId}`, hostile],
      [`record/${events.find(({ id }) => id === eventId)?.resource.id}`, hostile],
      ['failed', hostile],
    ]
    for (const [area, shown] of pages) {
      await page.goto(`${platform.info.origin}${pathTo(area)}`)
      const text = shown.startsWith('<img') ? 'onerror=' : shown
      await page.getByText(text).filter({ visible: true }).first().waitFor()
      const made = await page.evaluate(
        'document.querySelectorAll("img, b, script:not([src]), [onerror]").length + Number("isOpen" in window)',
      )
      expect([area, made]).toEqual([area, 0])
    }
    expect(problems).toEqual([])
  })
})
