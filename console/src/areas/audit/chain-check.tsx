import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { type ChainCheck as Check, checkChain } from '../../api/audit-queries.js'
import { Refusal } from '../../patterns/refusal.js'
import { ExactTime } from '../../patterns/time.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'

const words = texts.audit.chain

/**
 * Checks whether an event of the log was changed, removed or inserted, using the hash that links each event to the
 * previous one.
 */
export function ChainCheck() {
  const { place } = usePlace()
  const [check, setCheck] = useState<Check>()
  const [error, setError] = useState<unknown>()
  const running = useRef<AbortController>(undefined)
  const [isRunning, setRunning] = useState(false)
  useEffect(() => () => running.current?.abort(), [])
  const start = async () => {
    const own = new AbortController()
    running.current = own
    setCheck(undefined)
    setError(undefined)
    setRunning(true)
    try {
      for await (const each of checkChain(place, own.signal)) setCheck(each)
    } catch (failure) {
      if (!own.signal.aborted) setError(failure)
    } finally {
      setRunning(false)
    }
  }
  return (
    <div className="chain" role="status">
      {check === undefined ? <span className="muted">{words.about}</span> : <Outcome check={check} />}
      <Refusal error={error} />
      <span className="grow" />
      {isRunning ? (
        <Button size="xs" variant="default" onClick={() => running.current?.abort()}>
          {words.stop}
        </Button>
      ) : (
        <Button size="xs" variant="default" onClick={() => void start()}>
          {check === undefined ? words.check : words.again}
        </Button>
      )}
    </div>
  )
}

function Outcome({ check: { checked, isDone, last } }: { check: Check }) {
  const { place } = usePlace()
  const { problem, head } = last
  if (problem !== null)
    return (
      <span className="state-bad">
        {words.broken(problem.seq, words.problems[problem.kind])}{' '}
        {problem.eventId !== null && (
          <Link
            to="/w/$workspace/$environment/events/$eventId"
            params={{ ...place, eventId: problem.eventId }}
            className="link mono"
          >
            {problem.eventId}
          </Link>
        )}
      </span>
    )
  if (!isDone) return <span>{words.checked(checked)}</span>
  return (
    <span className="row">
      <span className="state-good">{words.whole(checked)}</span>
      {head !== null && (
        <span className="muted ellipsis">
          #{head.seq} <code title={head.hash}>{head.hash.slice(0, 12)}</code> <ExactTime at={head.at} />
        </span>
      )}
    </span>
  )
}
