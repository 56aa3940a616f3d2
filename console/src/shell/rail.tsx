import { Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { apiPath, createApi } from '../api/api.js'
import { workspacesQuery } from '../api/queries.js'
import { Icon } from '../patterns/icons.js'
import { usePlace } from '../place/context.js'
import { environments } from '../place/place.js'
import { rememberProviderSignOut } from '../place/provider-sign-out.js'
import { texts } from '../texts/en.js'
import { findAreas } from './areas.js'
import { Mark } from './logo.js'

const words = texts.shell

interface RailProps {
  isMenuOpen: boolean
  onMenu(): void
  onSearch(): void
  onKeys(): void
}

/** Navigation: the current place, the areas, and the person. On a phone it opens from a bar. */
export function Rail({ isMenuOpen, onMenu, onSearch, onKeys }: RailProps) {
  const { place, me } = usePlace()
  return (
    <>
      <div className="bar">
        <button
          type="button"
          className="bar-button"
          onClick={onMenu}
          aria-expanded={isMenuOpen}
          aria-label={words.menu}
        >
          <Icon name={isMenuOpen ? 'close' : 'menu'} />
        </button>
        <Mark size={20} />
        <strong className="ellipsis">{place.workspace}</strong>
        <span className="environment-badge">{texts.environments[place.environment]}</span>
        <span className="grow" />
        <button type="button" className="bar-button" onClick={onSearch} aria-label={words.search}>
          <Icon name="search" />
        </button>
      </div>
      <button type="button" className="veil" onClick={onMenu} aria-label={texts.common.close} tabIndex={-1} />
      <nav className="rail" aria-label={words.navigation}>
        <WorkspaceMenu />
        <EnvironmentMenu />
        <button type="button" className="rail-search" onClick={onSearch}>
          <Icon name="search" size={14} />
          <span className="grow">{words.search}</span>
          <kbd>Ctrl K</kbd>
        </button>
        <ul className="rail-areas">
          {findAreas(me).map(({ name, to, key }) => (
            <li key={name}>
              <Link
                to={to}
                params={place}
                className="rail-link"
                activeProps={{ className: 'rail-link-active' }}
              >
                <Icon name={name} />
                <span className="grow">{texts.areas[name]}</span>
                <kbd>g {key}</kbd>
              </Link>
            </li>
          ))}
        </ul>
        <span className="grow" />
        <AccountMenu onKeys={onKeys} />
      </nav>
    </>
  )
}

function WorkspaceMenu() {
  const { place, me } = usePlace()
  const navigate = useNavigate()
  const { data = [] } = useQuery(workspacesQuery)
  const name = me.workspace?.name ?? place.workspace
  const go = (workspace: string) =>
    void navigate({ to: '/w/$workspace/$environment/failed', params: { ...place, workspace } })
  return (
    <Menu position="bottom-start" width={204}>
      <Menu.Target>
        <UnstyledButton className="rail-place">
          <span className="rail-initial" aria-hidden="true">
            {name.slice(0, 1).toUpperCase()}
          </span>
          <strong className="ellipsis grow">{name}</strong>
          <Icon name="updown" size={14} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{words.workspaces}</Menu.Label>
        {data.map(({ slug, name: label }) => (
          <Menu.Item
            key={slug}
            onClick={() => go(slug)}
            rightSection={slug === place.workspace && <Icon name="check" size={14} />}
          >
            <span className="ellipsis">{label}</span>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

function EnvironmentMenu() {
  const { place } = usePlace()
  const navigate = useNavigate()
  return (
    <Menu position="bottom-start" width={204}>
      <Menu.Target>
        <UnstyledButton
          className="rail-environment"
          aria-label={`${words.environmentOf}: ${texts.environments[place.environment]}`}
        >
          <i className="environment-dot" />
          <span className="grow">{texts.environments[place.environment]}</span>
          <Icon name="chevron" size={14} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{words.environmentOf}</Menu.Label>
        {environments.map((environment) => (
          <Menu.Item
            key={environment}
            className={`environment-${environment}`}
            leftSection={<i className="environment-dot" />}
            rightSection={environment === place.environment && <Icon name="check" size={14} />}
            onClick={() =>
              void navigate({ to: '/w/$workspace/$environment/failed', params: { ...place, environment } })
            }
          >
            {texts.environments[environment]}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

const schemes = [
  ['light', words.light],
  ['dark', words.dark],
  ['auto', words.system],
] as const

function AccountMenu({ onKeys }: { onKeys(): void }) {
  const { me } = usePlace()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const leave = async () => {
    const { data } = await createApi().post('/auth/sso/logout')
    rememberProviderSignOut(sessionStorage, data.location)
    location.assign('/sign-in')
  }
  return (
    <Menu position="top-start" width={204}>
      <Menu.Target>
        <UnstyledButton className="rail-account">
          <span className="rail-face" aria-hidden="true">
            {me.user.name.slice(0, 1).toUpperCase()}
          </span>
          <span className="grow rail-person">
            <span className="ellipsis">{me.user.name}</span>
            <span className="ellipsis small muted">{me.workspace?.role}</span>
          </span>
          <Icon name="updown" size={14} />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{me.user.email}</Menu.Label>
        <Menu.Item component="a" href="/account" leftSection={<Icon name="people" />}>
          {words.account}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="keyboard" />} rightSection={<kbd>?</kbd>} onClick={onKeys}>
          {words.keys}
        </Menu.Item>
        <Menu.Item component="a" href={`${apiPath}/docs/`} target="_blank" leftSection={<Icon name="book" />}>
          {words.reference}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>{words.appearance}</Menu.Label>
        {schemes.map(([scheme, label]) => (
          <Menu.Item
            key={scheme}
            onClick={() => setColorScheme(scheme)}
            rightSection={scheme === colorScheme && <Icon name="check" size={14} />}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<Icon name="out" />} onClick={leave}>
          {words.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
