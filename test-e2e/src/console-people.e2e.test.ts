import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type OidcIssuer, startOidcIssuer, totpCode, waitFor } from '@opsplane/testing'
import type { Page } from 'playwright-core'
import postgres from 'postgres'
import { chromiumPath, startBrowser, type Tab } from './browser.js'
import { typedClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

const password = 'a password of a person'
const nextPassword = 'another password of a person'
const stepMs = 30_000

const inBrowser = chromiumPath ? describe : describe.skip
inBrowser(
  'user management in the console (with chromium: apt-get install chromium, or CHROMIUM names one)',
  () => {
    let platform: SharedPlatform
    let browser: Awaited<ReturnType<typeof startBrowser>>
    let issuer: OidcIssuer
    let origin: string
    /** Base URL of pages in the workspace. */
    let base: string

    beforeAll(async () => {
      ;[platform, browser, issuer] = await Promise.all([joinPlatform(), startBrowser(), startOidcIssuer()])
      origin = platform.origins.main
      base = `${origin}/w/${platform.info.workspace}/production`
    })
    afterAll(async () => {
      await browser?.close()
      await issuer?.stop()
    })

    const open = () => browser.open({ viewport: { width: 1_280, height: 900 } })

    async function signIn(page: Page, email: string, secret: string) {
      await page.getByLabel('E-mail').fill(email)
      await page.getByRole('textbox', { name: 'Password' }).fill(secret)
      await page.keyboard.press('Enter')
    }

    async function signOut(page: Page) {
      await page.goto(`${base}/failed`)
      await page.locator('.rail-account').click()
      await page.getByRole('menuitem', { name: 'Sign out' }).click()
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
    }

    /** Status of a request that a script in the page sends to the API. */
    const statusOf = (page: Page, method: string, path: string) =>
      page.evaluate(
        ([verb, url, workspace]) =>
          fetch(`/api/v1${url}`, {
            method: String(verb),
            headers: { 'X-Requested-With': 'test', 'X-Workspace': String(workspace) },
          }).then(({ status }) => status),
        [method, path, platform.info.workspace],
      )

    /** Adds an authenticator app on a page that shows its key; returns the key. */
    async function addTotp(page: Page): Promise<string> {
      const key = (await page.locator('.secret-key').textContent()) ?? ''
      const secret = key.replaceAll(' ', '')
      await page.getByLabel('Code of your authenticator app').fill(totpCode(secret, Date.now()))
      return secret
    }

    /** A passkey that this browser creates and uses without prompting. */
    async function addAuthenticator({ devtools }: Tab) {
      await devtools.send('WebAuthn.enable')
      const options = {
        ...{ protocol: 'ctap2' as const, transport: 'internal' as const },
        ...{ hasResidentKey: true, hasUserVerification: true, isUserVerified: true },
      }
      await devtools.send('WebAuthn.addVirtualAuthenticator', { options })
    }

    const outside = ({ requests }: Tab) =>
      requests.filter((url) => ![origin, issuer.issuer, 'data:'].some((own) => url.startsWith(own)))

    test('an invited user joins, adds a passkey and an app, signs in with each and by SSO, and ends a session', async () => {
      const { info } = platform
      const email = `grace@${info.workspace}.example.com`
      const owner = await open()
      await owner.page.goto(`${base}/people/users`)
      await signIn(owner.page, info.email, info.password)
      await owner.page.getByRole('button', { name: 'Invite', exact: true }).waitFor()
      expect(await owner.faults()).toEqual([])

      // Long after sign-in, the proof of identity is requested in place, and then the request continues.
      const sql = postgres(info.postgresUrl, { max: 1 })
      await sql`update settings.sessions s set proved_at = now() - interval '1 hour' from settings.accounts a
      where a.id = s.account_id and a.email = ${info.email}`
      await sql.end()
      await waitFor(async () => (await statusOf(owner.page, 'DELETE', '/settings/roles/nothing')) === 403)
      await owner.page.getByRole('button', { name: 'Invite', exact: true }).click()
      await owner.page.getByLabel('E-mail', { exact: true }).fill(email)
      await owner.page.getByLabel('Role', { exact: true }).last().selectOption('developer')
      await owner.page.locator('form').getByRole('button', { name: 'Invite', exact: true }).click()
      const proof = owner.page.getByRole('dialog', { name: 'Confirm that it is you' })
      await proof.getByRole('textbox', { name: 'Password' }).fill(info.password)
      expect(await owner.faults()).toEqual([])
      await owner.screenshot('console-step-up')
      await owner.page.keyboard.press('Enter')
      const link = await owner.page.locator('.once code').textContent()
      expect(link).toContain(`${origin}/invitation#token=`)

      const person = await open()
      const { page } = person
      await addAuthenticator(person)
      await page.goto(String(link))
      await page.getByLabel('Your name').fill('Grace Hopper')
      // The token is removed from the URL.
      expect(new URL(page.url()).hash).toBe('')
      await page.getByRole('textbox', { name: 'Password' }).fill(password)
      expect(await person.faults()).toEqual([])
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name: 'Failed now' }).waitFor()

      // An owner must have a factor before requiring one.
      await owner.page.goto(`${base}/people/sign-on`)
      await owner.page.getByLabel('Everyone').check()
      await owner.page.getByRole('button', { name: 'Save' }).click()
      await owner.page.getByRole('link', { name: 'your account' }).click()
      await owner.page.getByRole('button', { name: 'Add an authenticator app' }).click()
      await addTotp(owner.page)
      await owner.page.getByRole('button', { name: 'I have kept them' }).click()
      await owner.page.goto(`${base}/people/sign-on`)
      await owner.page.getByLabel('Everyone').check()
      await owner.page.getByRole('button', { name: 'Save' }).click()
      await owner.page.getByText('Who has none is asked to add one.').waitFor()
      expect(await owner.faults()).toEqual([])

      // A user without a factor has no access until one is added: here a passkey.
      await waitFor(async () => (await statusOf(page, 'GET', '/auth/me')) === 403)
      await page.goto(`${base}/failed`)
      await page.getByRole('button', { name: 'Passkey' }).click()
      expect(await person.faults()).toEqual([])
      await page.getByRole('button', { name: 'Add', exact: true }).click()
      await page.getByRole('heading', { name: 'Keep your recovery codes' }).waitFor()
      const codes = await page.locator('.recovery-codes li').allTextContents()
      expect(codes).toHaveLength(10)
      await page.getByRole('button', { name: 'I have kept them' }).click()
      await page.getByRole('button', { name: 'Go on' }).click()
      await page.getByRole('heading', { name: 'Failed now' }).waitFor()

      // Adds an authenticator app in addition.
      await page.goto(`${origin}/account`)
      await page.getByRole('button', { name: 'Add an authenticator app' }).click()
      const secret = await addTotp(page)
      await page.getByText('Authenticator app', { exact: true }).waitFor()
      expect(await person.faults()).toEqual([])
      await person.screenshot('console-account')

      // Either factor works after the password, and the passkey also works alone.
      await signOut(page)
      await signIn(page, email, password)
      await page.getByRole('button', { name: 'Use your passkey' }).click()
      await page.getByRole('heading', { name: 'Failed now' }).waitFor()
      await signOut(page)
      await signIn(page, email, password)
      await page.getByRole('button', { name: 'Use an authenticator app' }).click()
      // The first code was used when the app was added, so the next one is entered.
      await page.getByLabel('Code of your authenticator app').fill(totpCode(secret, Date.now() + stepMs))
      await page.getByRole('heading', { name: 'Failed now' }).waitFor()

      // Sign-on through the workspace's identity provider.
      await owner.page.goto(`${base}/people/sign-on/new`)
      await owner.page.getByLabel('Name').fill('Acme SSO')
      await owner.page.getByLabel('Issuer').fill(issuer.issuer)
      await owner.page.getByLabel('Client id').fill(issuer.clientId)
      await owner.page.getByRole('textbox', { name: 'Client secret' }).fill(issuer.clientSecret)
      await owner.page.locator('form').getByRole('button', { name: 'Connect a provider' }).click()
      await owner.page.getByText('/callback').waitFor()
      expect(await owner.faults()).toEqual([])
      issuer.person = { sub: 'grace', claims: {} }
      await page.goto(`${origin}/account`)
      await page.getByRole('button', { name: 'Link Acme SSO' }).click()
      await page.getByRole('button', { name: 'Unlink' }).waitFor()
      await signOut(page)
      await page.getByRole('button', { name: 'Continue with Acme SSO' }).click()
      await page.getByRole('heading', { name: 'Failed now' }).waitFor()
      await signOut(page)
      // The provider keeps its own session, and offers a page that ends it.
      const there = page.getByRole('link', { name: 'Sign out there as well' })
      expect(await there.getAttribute('href')).toContain(`${issuer.issuer}/`)
      await page.getByRole('button', { name: 'Use a passkey' }).click()
      await page.getByRole('heading', { name: 'Failed now' }).waitFor()

      // A forgotten password is replaced through a link that an owner creates; the second factor is still required.
      const { data: users } = await typedClient(info).get('/settings/users', {
        params: { query: { q: email } },
      })
      await owner.page.goto(`${base}/people/users/${users[0]?.id}`)
      await owner.page.getByRole('button', { name: 'Make a reset link' }).click()
      const resetLink = await owner.page.locator('.once code').textContent()
      expect(resetLink).toContain(`${origin}/reset#token=`)
      await signOut(page)
      await page.goto(String(resetLink))
      await page.getByRole('textbox', { name: 'New password' }).fill(nextPassword)
      expect([new URL(page.url()).hash, await person.faults()]).toEqual(['', []])
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Use your passkey' }).click()
      await page.getByRole('heading', { name: 'Failed now' }).waitFor()

      // In another browser the user signs in with a recovery code, and ends the session of the first browser, where a form
      // is being filled in.
      await page.goto(`${base}/people/keys/new`)
      await page.getByLabel('Name').fill('nightly export')
      await page.getByRole('button', { name: 'All that read' }).click()
      const elsewhere = await open()
      await elsewhere.page.goto(`${origin}/account`)
      await signIn(elsewhere.page, email, nextPassword)
      await elsewhere.page.getByRole('button', { name: 'Use a recovery code' }).click()
      await elsewhere.page.getByLabel('Recovery code').fill(codes[0] ?? '')
      await elsewhere.page.keyboard.press('Enter')
      await elsewhere.page.getByText('9 codes are left.').waitFor()
      const others = elsewhere.page.getByRole('button', { name: 'Sign out', exact: true })
      while ((await others.count()) > 0) {
        const count = await others.count()
        await others.first().click()
        await elsewhere.page.getByRole('alertdialog').getByRole('button', { name: 'Sign out' }).click()
        await waitFor(async () => (await others.count()) < count)
      }
      await waitFor(async () => (await statusOf(page, 'GET', '/auth/me')) === 401)

      // No input is lost: the user signs in on the same page, and the form is submitted.
      const asked = page.getByRole('dialog', { name: 'Sign in to go on' })
      const create = page.locator('form').getByRole('button', { name: 'New key' })
      const shown = page.getByText('Copy it now.')
      await waitFor(async () => {
        if (!(await asked.isVisible())) await create.click({ timeout: 1_000 }).catch(() => undefined)
        return asked.isVisible()
      })
      await asked.getByRole('textbox', { name: 'Password' }).fill(nextPassword)
      expect(await person.faults()).toEqual([])
      await person.screenshot('console-session-over')
      await page.keyboard.press('Enter')
      await asked.getByRole('button', { name: 'Use your passkey' }).click()
      await asked.waitFor({ state: 'detached' })
      await waitFor(async () => {
        if ((await shown.isVisible()) || !(await create.isEnabled())) return shown.isVisible()
        await create.click()
        return false
      })
      await page.getByRole('heading', { name: 'The key nightly export' }).waitFor()

      for (const tab of [owner, person, elsewhere]) expect([tab.problems, outside(tab)]).toEqual([[], []])
    })

    test('only operators of the installation can view its status', async () => {
      const { operator } = platform
      const { page, faults, problems } = await open()
      await page.goto(`${origin}/w/${operator.workspace}/production/platform`)
      await signIn(page, operator.email, operator.password)
      await page.getByRole('row', { name: /^settings/ }).waitFor()
      expect(await faults()).toEqual([])
      await page.getByRole('link', { name: 'Dead letters', exact: true }).click()
      // Other tests on this platform may have created dead letters.
      await page.getByRole('combobox', { name: 'Service' }).waitFor()
      expect(await faults()).toEqual([])
      expect(problems).toEqual([])

      const { page: other } = await open()
      await other.goto(`${base}/platform`)
      await signIn(other, platform.info.email, platform.info.password)
      await other.getByRole('heading', { name: 'Second factor' }).waitFor()
    })
  },
)
