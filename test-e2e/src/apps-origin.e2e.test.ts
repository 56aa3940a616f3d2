import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { chromiumPath, startBrowser, startPortal, type Tab } from './browser.js'
import { createCliRunner } from './cli.js'
import { type Api, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

/** The session that apps store for scripts of their origin. */
const session = "sessionStorage.getItem('opsplane.session')"

const inBrowser = chromiumPath ? describe : describe.skip
inBrowser('apps at a separate origin (with chromium)', () => {
  let platform: SharedPlatform
  let browser: Awaited<ReturnType<typeof startBrowser>>
  /** The same gateway under two names. */
  let [main, own, path, id] = ['', '', '', '']
  let portal: Awaited<ReturnType<typeof startPortal>>
  let api: Api

  beforeAll(async () => {
    ;[platform, browser, portal] = await Promise.all([joinPlatform(), startBrowser(), startPortal()])
    api = apiClient(platform.info)
    ;[main, own] = [platform.origins.main, platform.origins.apps]
    const { baseUrl, apiKey, workspace } = platform.info
    const environment = { OPSPLANE_URL: baseUrl, OPSPLANE_API_KEY: apiKey, OPSPLANE_WORKSPACE: workspace }
    const opsplane = createCliRunner(environment)
    const installed = await opsplane.json<{ id: string; url: string }>(
      ...(['apps', 'install-sample', 'asset-register', '--embeddable'] as const),
    )
    path = new URL(installed.url).pathname
    id = installed.id
    await make('/tables/asset_register/records', { serial_number: 'L-1', name: 'Old laptop', kind: 'laptop' })
  })
  afterAll(async () => {
    await browser?.close()
    await portal?.stop()
  })

  async function make<Made>(at: string, body: object): Promise<Made> {
    const answer = await api<{ data: Made }>('POST', at, { body })
    if (answer.status >= 300) throw new Error(`${at}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body.data
  }
  const sharedWithPortal = () =>
    make<{ id: string; token: string; path: string }>(`/apps/${id}/embed-token`, {
      ...{ origins: [portal.origin], expiresInSeconds: 600 },
    })

  async function logIn({ page }: Tab) {
    await page.getByLabel('E-mail').fill(platform.info.email)
    await page.getByLabel('Password').fill(platform.info.password)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('button', { name: 'Log out' }).waitFor()
  }

  test('work there, and their scripts reach neither the API nor the storage of the main origin', async () => {
    const tab = await browser.open()
    const { page, problems, requests } = tab
    await page.goto(`${main}/api/v1/docs`)
    await page.evaluate("sessionStorage.setItem('kept', 'for the main origin')")

    await page.goto(`${main}${path}/new`)
    expect(new URL(page.url()).origin).toBe(own)
    await logIn(tab)
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
    // Uses the session that is stored by now.
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

  test('are shown on another site with an embed token, without affecting the session of the viewer', async () => {
    const tab = await browser.open()
    const { page, problems, requests, screenshot } = tab
    const frame = page.frameLocator('iframe')
    await page.goto(`${own}${path}`)
    await logIn(tab)
    const before = await page.evaluate(session)
    const token = await sharedWithPortal()

    for (const origin of [own, main]) {
      requests.length = 0
      await page.goto(portal.showing(`${origin}${token.path}`))
      await frame.getByRole('cell', { name: 'Old laptop' }).waitFor()
      expect(await frame.getByRole('button', { name: 'Log out' }).count()).toBe(0)
      // Only the page itself is requested at the main origin, which redirects it.
      const asked = requests.filter((url) => !url.startsWith(portal.origin)).map((url) => new URL(url))
      const elsewhere = asked.filter((url) => url.origin !== own)
      expect(elsewhere.map(({ pathname }) => pathname)).toEqual(origin === own ? [] : [path])
      // The token is in the fragment of the URL, which no server receives.
      expect(asked.filter(({ pathname, search }) => `${pathname}${search}`.includes(token.token))).toEqual([])
    }
    await screenshot('embedded-at-its-own-origin')
    expect(problems).toEqual([])
    expect(await page.context().cookies()).toEqual([])
    const inFrame = page.frames().find((found) => found.url().startsWith(own))
    // Browsers give a cross-site frame separate storage, or none.
    expect(
      await inFrame?.evaluate(`(() => { try { return ${session} } catch { return null } })()`),
    ).toBeNull()

    await page.goto(`${own}${path}`)
    await page.getByRole('cell', { name: 'Old laptop' }).waitFor()
    expect(await page.evaluate(session)).toBe(before)
    expect(before).toMatch(/^\S{20,}$/)
  })

  test('are not shown on a site without a valid token or on a site the token does not name', async () => {
    const { page } = await browser.open()
    const shown = page.frameLocator('iframe').getByRole('heading', { level: 1 })
    const token = await sharedWithPortal()
    // The browser shows its own page in a frame that is refused.
    const refused = async (showing: string) => {
      await page.goto(showing)
      const isRefused = () => page.frames()[1]?.url().startsWith('chrome-error:')
      await waitFor(isRefused, { message: `${showing} to be refused` })
      expect(await shown.count()).toBe(0)
    }
    const other = await startPortal()
    for (const origin of [own, main]) {
      await page.goto(portal.showing(`${origin}${token.path.slice(0, -8)}AAAAAAAA`))
      await shown.filter({ hasText: 'This is no longer shared' }).waitFor()
      await refused(portal.showing(`${origin}${path}`))
      await refused(other.showing(`${origin}${token.path}`))
    }
    await other.stop()
    await api('DELETE', `/apps/${id}/embed-tokens/${token.id}`)
    await refused(portal.showing(`${own}${token.path}`))
    expect(await page.context().cookies()).toEqual([])
  })
})
