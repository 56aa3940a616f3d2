import { Navigate } from '@tanstack/react-router'
import { usePlace } from '../../place/context.js'
import { peoplePages } from './head.js'

/** Opens the first page about people that the person may see. */
export function PeopleHome() {
  const { place, may } = usePlace()
  const { to } = peoplePages.find(({ needs }) => may(needs)) ?? peoplePages[0]
  return <Navigate to={to} params={place} replace />
}

export function PlatformHome() {
  const { place } = usePlace()
  return <Navigate to="/w/$workspace/$environment/platform/status" params={place} replace />
}
