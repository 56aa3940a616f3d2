import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { chromiumPath, startBrowser } from './browser.js'
import { typedClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

const inBrowser = chromiumPath ? describe : describe.skip
inBrowser('the console in a browser (with chromium: apt-get install chromium, or CHROMIUM names one)', () => {
  let platform: SharedPlatform
  let browser: Awaited<ReturnType<typeof startBrowser>>
  let receiver: Receiver
  let isMended = false

  beforeAll(async () => {
    ;[platform, browser] = await Promise.all([joinPlatform(), startBrowser()])
    const { key, cert } = platform.certificate
    receiver = await startReceiver({
      tls: { key, cert },
      respond: () =>
        isMended
          ? { status: 200, body: '{"received":true}' }
          : { status: 500, body: '{"error":"<b>no such table</b>"}' },
    })
    const ada = typedClient(platform.info)
    const { id } = (
      await ada.post('/webhooks', {
        body: { name: 'Pager', url: `${receiver.url}/pager`, events: ['incident.created'], retries: 0 },
      })
    ).data
    await ada.post('/itsm/incidents', { body: { title: '<img src=x onerror=alert(1)> الطابعة لا تعمل' } })
    const params = { path: { id } }
    await waitFor(async () => {
      const { data } = await ada.get('/webhooks/{id}/deliveries', { params })
      return data[0]?.status === 'failed'
    })
  })
  afterAll(async () => {
    await browser?.close()
    await receiver?.stop()
  })

  test('somebody on call finds a failed delivery, sees why, retries it, and sees it succeed', async () => {
    const { info } = platform
    const { page, problems, requests, faults, screenshot } = await browser.open({
      viewport: { width: 1_280, height: 800 },
    })
    const wanted = `/w/${info.workspace}/production/failed`
    await page.goto(`${info.origin}${wanted}`)
    // Whoever is not signed in is led back to where they wanted to go.
    await page.getByLabel('E-mail').fill(info.email)
    await page.getByRole('textbox', { name: 'Password' }).fill('not this')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(await faults()).toEqual([])
    await page.getByRole('textbox', { name: 'Password' }).fill(info.password)
    await page.keyboard.press('Enter')

    await page.getByRole('link', { name: 'Answered 500' }).waitFor()
    expect(new URL(page.url()).pathname).toBe(wanted)
    expect(await faults()).toEqual([])
    await screenshot('console-failed')
    await page.getByRole('link', { name: 'Answered 500' }).click()

    const attempts = page.getByRole('tablist', { name: 'Attempts' }).getByRole('tab')
    await attempts.first().waitFor()
    expect(await attempts.count()).toBe(1)
    await page.getByText('Answered 500 at the only attempt. No more are due.').waitFor()
    // What an endpoint answers and what people write is text, whatever it looks like.
    await page.getByText('<b>no such table</b>').waitFor()
    await page
      .getByRole('region', { name: 'Request: Body' })
      .getByText('<img src=x onerror=alert(1)>')
      .waitFor()
    expect(await faults()).toEqual([])
    await screenshot('console-delivery')

    isMended = true
    await page.keyboard.press('r')
    await page.getByText('Delivered at attempt 2: the endpoint answered 200.').waitFor()
    expect(await attempts.count()).toBe(2)

    await page.keyboard.press('g')
    await page.keyboard.press('e')
    await page.getByRole('link', { name: 'incident.created' }).click()
    await page.getByRole('cell', { name: '<img src=x onerror=alert(1)> الطابعة لا تعمل' }).first().waitFor()
    await page.getByRole('tab', { name: 'Deliveries' }).click()
    await page.getByRole('link', { name: 'Pager' }).waitFor()
    expect(await faults()).toEqual([])
    await screenshot('console-event')

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

    expect(problems).toEqual([])
    expect(requests.filter((url) => !url.startsWith(`${info.origin}/`) && !url.startsWith('data:'))).toEqual(
      [],
    )
    // Signing out ends what others could see on this machine.
    await page.getByRole('button', { name: 'Menu' }).click()
    await page.getByRole('button', { name: /owner/i }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    await page.goto(`${info.origin}${wanted}`)
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
  })
})
