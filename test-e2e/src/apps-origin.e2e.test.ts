import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { freePort } from '@opsplane/runtime/server-process'
import { chromiumPath, startBrowser } from './browser.js'
import { cliRunner } from './cli.js'
import { startTestCluster } from './platform.js'

/** What apps keep of who has logged in, for scripts of their origin. */
const session = "sessionStorage.getItem('opsplane.session')"

const inBrowser = chromiumPath ? describe : describe.skip
inBrowser('apps at an origin of their own (with chromium)', () => {
  let cluster: Awaited<ReturnType<typeof startTestCluster>>
  let browser: Awaited<ReturnType<typeof startBrowser>>
  /** One gateway by two names. */
  let [main, own, path] = ['', '', '']

  beforeAll(async () => {
    ;[cluster, browser] = await Promise.all([startTestCluster(), startBrowser()])
    const port = await freePort()
    ;[main, own] = [`http://127.0.0.1:${port}`, `http://apps.localhost:${port}`]
    await cluster.replica('gateway', { PORT: String(port), APPS_ORIGIN: own })
    const { baseUrl, apiKey, workspace } = cluster.info
    const environment = { OPSPLANE_URL: baseUrl, OPSPLANE_API_KEY: apiKey, OPSPLANE_WORKSPACE: workspace }
    const opsplane = cliRunner(environment)
    const installed = await opsplane.json<{ url: string }>('apps', 'install-sample', 'asset-register')
    path = new URL(installed.url).pathname
  })
  afterAll(async () => {
    await browser?.close()
    await cluster?.stop()
  })

  test('are used there, where no script reaches the API, nor what is kept for the other origin', async () => {
    const { page, problems, requests } = await browser.open()
    await page.goto(`${main}/api/v1/docs`)
    await page.evaluate("sessionStorage.setItem('kept', 'for the main origin')")

    await page.goto(`${main}${path}/new`)
    expect(new URL(page.url()).origin).toBe(own)
    await page.getByLabel('E-mail').fill(cluster.info.email)
    await page.getByLabel('Password').fill(cluster.info.password)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByLabel('Name').fill('A laptop')
    await page.getByLabel('Serial number').fill('S-1')
    await page.getByLabel('Kind').selectOption('laptop')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByText('A laptop is registered.').waitFor()
    expect(problems).toEqual([])
    const asked = requests.slice(requests.findIndex((url) => url.startsWith(own)))
    expect(asked.filter((url) => !url.startsWith(own))).toEqual([])

    expect(await page.context().cookies()).toEqual([])
    expect(await page.evaluate("sessionStorage.getItem('kept')")).toBeNull()
    // With the very session that is there by now.
    const api = (origin: string) =>
      page.evaluate(
        `fetch('${origin}/api/v1/auth/me', { headers: { authorization: 'Bearer ' + ${session} } })
           .then(({ status }) => status, () => 'refused by the browser')`,
      )
    expect(await page.evaluate(session)).toMatch(/^\S{20,}$/)
    expect(await api(own)).toBe(404)
    expect(await api(main)).toBe('refused by the browser')
    await page.goto(`${main}/api/v1/docs`)
    expect(await page.evaluate('Object.keys(sessionStorage)')).toEqual(['kept'])
  })
})
