import type { AuditEvent } from '../../api/api.js'

/** The resource of an event: its number, if it has one, and its name. */
export function ResourceName({ event: { resource } }: { event: Pick<AuditEvent, 'resource'> }) {
  const { number, displayName } = resource
  return (
    <span className="row" dir="auto">
      {number !== undefined && <span className="muted mono nowrap">{number}</span>}
      {displayName !== number && <span className="ellipsis">{displayName}</span>}
    </span>
  )
}
