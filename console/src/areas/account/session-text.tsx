import type { SessionDetail } from '../../api/api.js'
import { Time } from '../../patterns/time.js'
import { texts } from '../../texts/en.js'
import { parseUserAgent } from './user-agent.js'

const words = texts.account

/** Location, device and time of a session. */
export function SessionText({ session }: { session: SessionDetail }) {
  const { userAgent, address, methods = [], createdAt, lastSeenAt, current } = session
  return (
    <span className="grow">
      <strong title={userAgent}>{parseUserAgent(userAgent)}</strong>{' '}
      {current && <span className="state-good">{words.thisOne}</span>}
      <span className="small muted block">
        {[address, ...methods.map((method) => words.methods[method])].join(' · ')}
      </span>
      <span className="small muted block">
        {words.seen} <Time at={lastSeenAt} />, {words.signedIn} <Time at={createdAt} />
      </span>
    </span>
  )
}
