import { Notifications } from '@mantine/notifications'
import { getRouteApi, Outlet, useLocation, useNavigate, useRouter } from '@tanstack/react-router'
import { lazy, Suspense, useEffect, useMemo, useState } from 'react'
import { LiveContext, useStream } from '../live/use-live.js'
import { useKeys } from '../patterns/keys.js'
import { type Here, HereContext } from '../place/context.js'
import { Proof } from '../proof/proof.js'
import { texts } from '../texts/en.js'
import { type Area, areas, findAreas } from './areas.js'
import { KeysHelp } from './keys-help.js'
import { NewVersion } from './new-version.js'
import { Rail } from './rail.js'

const route = getRouteApi('/w/$workspace/$environment')
/** Loaded when it is first opened. */
const Palette = lazy(async () => ({ default: (await import('./palette.js')).Palette }))

/** The frame of every page: navigation, place and keyboard shortcuts. */
export function Shell() {
  const place = route.useParams()
  const me = route.useLoaderData()
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isPaletteOpen, setPaletteOpen] = useState(false)
  const [areKeysOpen, setKeysOpen] = useState(false)
  const { workspace, environment } = place
  const here = useMemo<Here>(
    () => ({
      place: { workspace, environment },
      me,
      may: (permission) => me.permissions.includes(permission),
    }),
    [workspace, environment, me],
  )
  const [signIns, setSignIns] = useState(0)
  const live = useStream(place, me.user.id, signIns)
  // Selects only this part of the URL, so that the frame does not render again for each opened row.
  const shown = useLocation({ select: ({ pathname }) => pathname.split('/')[4] })
  const area = areas.find(({ name }) => name === shown)
  const router = useRouter()
  // Navigation closes the menu.
  useEffect(() => router.subscribe('onBeforeNavigate', () => setMenuOpen(false)), [router])
  useEffect(() => {
    const name = area === undefined ? texts.product : texts.areas[area.name]
    document.title = `${name} · ${workspace} ${texts.environments[environment].toLowerCase()}`
  }, [area, workspace, environment])
  useShellKeys({ me, openPalette: () => setPaletteOpen(true), openKeys: () => setKeysOpen(true) })
  return (
    <HereContext value={here}>
      <div className={`shell environment-${environment}`} data-menu={isMenuOpen || undefined}>
        <a href="#content" className="skip">
          {texts.shell.skip}
        </a>
        <Rail
          onMenu={() => setMenuOpen(!isMenuOpen)}
          onSearch={() => setPaletteOpen(true)}
          onKeys={() => setKeysOpen(true)}
          isMenuOpen={isMenuOpen}
        />
        <main id="content" className="content" tabIndex={-1}>
          <NewVersion />
          <LiveContext value={live}>
            <Outlet />
          </LiveContext>
        </main>
      </div>
      <KeysHelp isOpen={areKeysOpen} onClose={() => setKeysOpen(false)} />
      {isPaletteOpen && (
        <Suspense>
          <Palette onClose={() => setPaletteOpen(false)} onKeys={() => setKeysOpen(true)} />
        </Suspense>
      )}
      <Notifications position="bottom-right" autoClose={4_000} />
      <Proof person={me.user} onSignedIn={() => setSignIns(signIns + 1)} />
    </HereContext>
  )
}

interface ShellKeys {
  me: Here['me']
  openPalette(): void
  openKeys(): void
}

function useShellKeys({ me, openPalette, openKeys }: ShellKeys) {
  const params = route.useParams()
  const navigate = useNavigate()
  const to = ({ to }: Area) => void navigate({ to, params })
  useKeys({
    '?': openKeys,
    ...Object.fromEntries(findAreas(me).map((area) => [`g ${area.key}`, () => to(area)])),
  })
  // Also active in text fields, because the shortcut is not a letter.
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return
      event.preventDefault()
      openPalette()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  })
}
