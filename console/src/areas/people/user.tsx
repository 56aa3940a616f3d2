import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { User } from '../../api/api.js'
import { exactTime } from '../../format/times.js'
import { Id } from '../../patterns/copy.js'
import { DetailBody, DetailHead, Facts } from '../../patterns/page.js'
import { ExactTime } from '../../patterns/time.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { userQuery } from './queries.js'
import { UserAccess } from './user-access.js'
import { UserActions } from './user-actions.js'
import { UserStatus } from './users.js'

const route = getRouteApi('/w/$workspace/$environment/people/users/$userId')
const words = texts.people.users

/** A user: permissions, editable properties, and sessions. */
export function UserPage() {
  const { place, may } = usePlace()
  const { userId } = route.useParams()
  const query = useQuery(userQuery(place, userId))
  return (
    <>
      <DetailHead
        title={query.data?.name || query.data?.email || ''}
        closed={{ to: '/w/$workspace/$environment/people/users', params: place, search: true }}
      />
      <DetailBody query={query}>
        {(user) => (
          <>
            <Story user={user} />
            <UserFacts user={user} />
            <UserActions key={user.id} user={user} />
            {may('credentials:manage') && user.status === 'active' && <UserAccess user={user} />}
          </>
        )}
      </DetailBody>
    </>
  )
}

function Story({ user: { status, role, invitationExpiresAt, addressProven } }: { user: User }) {
  const until = invitationExpiresAt === null ? '' : exactTime(invitationExpiresAt)
  return (
    <div className="story">
      <UserStatus status={status} />
      <p>
        {words.story[status](role, until)}
        {!addressProven && status === 'active' && ` ${words.unproven}`}
      </p>
    </div>
  )
}

function UserFacts({ user: { id, email, role, createdAt, updatedAt } }: { user: User }) {
  const names = words.facts
  return (
    <Facts
      facts={[
        [names.id, <Id key="id" value={id} />],
        [
          names.email,
          <span key="email" className="ellipsis">
            {email}
          </span>,
        ],
        [names.role, role],
        [names.since, <ExactTime key="since" at={createdAt} />],
        [names.changed, <ExactTime key="changed" at={updatedAt} />],
      ]}
    />
  )
}
