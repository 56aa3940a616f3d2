import { useQuery } from '@tanstack/react-query'
import { Link, useLocation, useParams } from '@tanstack/react-router'
import { Fragment } from 'react'
import { apiPath, type Role } from '../../api/api.js'
import { Icon } from '../../patterns/icons.js'
import { DetailSkeleton, Split } from '../../patterns/page.js'
import { Problem } from '../../patterns/problem.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { NewButton, PeopleHead } from './head.js'
import { rolesQuery } from './queries.js'
import { groupPermissions } from './role-change.js'

const words = texts.people.roles
const to = '/w/$workspace/$environment/people/roles/$roleName'

/** All permissions that exist: the owner role has all of them. */
export const everyPermission = (roles: readonly Role[]): Role['permissions'] =>
  roles.find(({ name, builtIn }) => builtIn && name === 'owner')?.permissions ?? []

/** Comparison of the permissions of all roles. */
export function Roles() {
  const { place, may } = usePlace()
  const { roleName } = useParams({ strict: false })
  const isMaking = useLocation().pathname.endsWith('/roles/new')
  const { data: roles, error, refetch } = useQuery(rolesQuery(place))
  return (
    <>
      <PeopleHead request={{ path: `${apiPath}/settings/roles` }}>
        {may('roles:write') && (
          <NewButton
            label={words.create}
            form={{ to: '/w/$workspace/$environment/people/roles/new', params: place }}
          />
        )}
      </PeopleHead>
      <Split isOpen={roleName !== undefined || isMaking} hint={words.select}>
        {error && !roles && <Problem error={error} onRetry={() => void refetch()} />}
        {roles ? <Matrix roles={roles} selected={roleName} /> : !error && <DetailSkeleton />}
      </Split>
    </>
  )
}

/** Scrolls the column of the open role into view. */
const show = (column: HTMLElement | null) => column?.scrollIntoView({ block: 'nearest', inline: 'center' })

function Matrix({ roles, selected }: { roles: readonly Role[]; selected: string | undefined }) {
  const { place } = usePlace()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard.
    <section className="matrix-scroll" aria-label={texts.people.tabs.roles} tabIndex={0}>
      <table className="matrix">
        <thead>
          <tr>
            <th scope="col">
              <span className="visually-hidden">{words.permission}</span>
            </th>
            {roles.map(({ name, members }) => (
              <th
                key={name}
                ref={name === selected ? show : undefined}
                scope="col"
                data-selected={name === selected || undefined}
              >
                <Link to={to} params={{ ...place, roleName: name }} className="matrix-role">
                  <span className="ellipsis">{name}</span>
                  <span className="small muted">{words.members(members)}</span>
                </Link>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groupPermissions(everyPermission(roles)).map(([family, permissions]) => (
            <Fragment key={family}>
              <tr className="matrix-family">
                <th scope="rowgroup">{family}</th>
                <td colSpan={roles.length} />
              </tr>
              {permissions.map((permission) => (
                <tr key={permission}>
                  <th scope="row">{permission.split(':')[1]}</th>
                  {roles.map(({ name, permissions: allowed }) => (
                    <td key={name} data-selected={name === selected || undefined}>
                      <Allowed isAllowed={allowed.includes(permission)} />
                    </td>
                  ))}
                </tr>
              ))}
            </Fragment>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Allowed({ isAllowed }: { isAllowed: boolean }) {
  return (
    <>
      {isAllowed && <Icon name="check" size={14} />}
      <span className="visually-hidden">{isAllowed ? words.has : words.hasNot}</span>
    </>
  )
}
