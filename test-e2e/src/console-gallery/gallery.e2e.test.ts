import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { chromiumPath } from '../browser.js'
import { type StubConsole, type StubState, startStubConsole, stubStates } from '../console-stub/index.js'
import { writeContactSheets } from './contact-sheet.js'
import { galleryFolder, inspectScreens, widths } from './gallery.js'
import { screens } from './screens.js'

/**
 * With TEST_GALLERY every screen in every state, width and color scheme, saved with contact sheets in
 * `.opsplane/gallery`; otherwise a sample.
 */
const isWhole = process.env.TEST_GALLERY !== undefined
const inBrowser = chromiumPath ? describe : describe.skip

inBrowser(
  'console pages with a stub of the API (with chromium: apt-get install chromium, or CHROMIUM names one)',
  () => {
    let stub: StubConsole
    beforeAll(async () => {
      stub = await startStubConsole()
    })
    afterAll(() => stub?.stop())

    /** Includes pages that show text written by other users. */
    const sampled = ['failed-now', 'delivery', 'event-deliveries', 'catalogue', 'record']
    /** Pages that wait for the data of their parts. */
    const waiting = ['failed-now', 'sign-on', 'account']
    const namesOf = (state: StubState) => (state === 'error' ? waiting : sampled)
    const sampleOf = (state: StubState) => screens.filter(({ name }) => namesOf(state).includes(name))
    const cases: { width: number; state: StubState }[] = isWhole
      ? widths.flatMap((width) => stubStates.map((state) => ({ width, state })))
      : [
          { width: 1_280, state: 'stale' },
          { width: 390, state: 'long' },
          { width: 390, state: 'error' },
        ]

    test.each(cases)(
      'at $width px, $state: no content shifts, is cut off or is inaccessible',
      async ({ width, state }) => {
        const { shots, faulty } = await inspectScreens({
          ...{ stub, screens: isWhole ? screens : sampleOf(state), states: [state], widths: [width] },
          ...(isWhole ? { folder: galleryFolder } : { schemes: ['dark'] }),
        })
        if (isWhole)
          await writeContactSheets(galleryFolder, shots, ({ scheme }) => `${state}-${width}-${scheme}`)
        expect(faulty).toEqual([])
      },
    )
  },
)
