import type { AuditEvent } from '../../api/api.js'

/** What an event is about: its number, if people know it by one, and its name. */
export function ResourceName({ event: { resource } }: { event: Pick<AuditEvent, 'resource'> }) {
  const { number, displayName } = resource
  return (
    <span className="row" dir="auto">
      {number !== undefined && <span className="muted mono nowrap">{number}</span>}
      {displayName !== number && <span className="ellipsis">{displayName}</span>}
    </span>
  )
}
