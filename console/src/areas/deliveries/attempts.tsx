import { useState } from 'react'
import type { DeliveryAttempt, DeliveryDetail } from '../../api/api.js'
import { clockTime, duration, exactTime } from '../../format/times.js'
import { Code } from '../../patterns/json.js'
import { StatusCode } from '../../patterns/state.js'
import { texts } from '../../texts/en.js'
import { describeCause } from './causes.js'
import { Timing, TimingBar } from './timing.js'

const words = texts.deliveries
/** Placeholder for a body that the person may not read. */
const hidden = '***'

/** All attempts with request and response. The last one is open unless the person selects another. */
export function Attempts({ delivery }: { delivery: DeliveryDetail }) {
  const { attemptLog, request } = delivery
  const [chosen, setChosen] = useState<number>()
  const attempt = attemptLog.find(({ number }) => number === chosen) ?? attemptLog.at(-1)
  if (attempt === undefined) return <p className="muted detail-nothing">{words.noAttempt}</p>
  const longest = Math.max(
    ...attemptLog.map(({ durationMs, totalMs }) => Math.max(durationMs, totalMs ?? 0)),
    1,
  )
  return (
    <>
      <div className="attempts" role="tablist" aria-label={words.attemptSeries}>
        {attemptLog.map((each) => (
          <button
            key={each.number}
            type="button"
            role="tab"
            className="attempt"
            aria-selected={each === attempt}
            onClick={() => setChosen(each.number)}
          >
            <span className="row">
              <span className="muted">#{each.number}</span>
              <AttemptOutcome attempt={each} />
            </span>
            <span className="row small muted">
              <time dateTime={each.startedAt} title={exactTime(each.startedAt)}>
                {clockTime(each.startedAt)}
              </time>
              <span>{duration(each.durationMs)}</span>
            </span>
            <TimingBar attempt={each} longestMs={longest} />
          </button>
        ))}
      </div>
      <Timing attempt={attempt} />
      <div className="exchange" role="tabpanel" aria-label={words.attempt(attempt.number)}>
        <Sent attempt={attempt} body={request?.body ?? ''} />
        <Received attempt={attempt} />
      </div>
    </>
  )
}

function AttemptOutcome({ attempt: { response, error } }: { attempt: DeliveryAttempt }) {
  if (response !== null) return <StatusCode status={response.status} />
  return (
    <span className="state-bad ellipsis">
      {describeCause({ lastError: error, lastResponseStatus: null })}
    </span>
  )
}

function Sent({ attempt: { url, requestHeaders }, body }: { attempt: DeliveryAttempt; body: string }) {
  return (
    <section className="side">
      <h3 className="side-title">
        {words.request} <code className="muted ellipsis">POST {pathOf(url)}</code>
      </h3>
      <Body text={body} label={`${words.request}: ${words.body}`} />
      <Headers headers={requestHeaders} />
    </section>
  )
}

function Received({ attempt: { response, error } }: { attempt: DeliveryAttempt }) {
  if (response === null)
    return (
      <section className="side">
        <h3 className="side-title">{words.response}</h3>
        <p className="side-none">
          <strong>{words.noResponse}</strong>
          {error !== null && <span className="muted">{error.message}</span>}
        </p>
      </section>
    )
  return (
    <section className="side">
      <h3 className="side-title">
        {words.response} <StatusCode status={response.status} />
      </h3>
      <Body text={response.body} label={`${words.response}: ${words.body}`} />
      {response.truncated && <p className="small muted">{texts.common.truncated}</p>}
      <Headers headers={response.headers} />
    </section>
  )
}

function Body({ text, label }: { text: string; label: string }) {
  if (text === '') return <p className="muted side-empty">{texts.common.emptyBody}</p>
  if (text === hidden) return <p className="muted side-empty">{texts.common.bodyHidden}</p>
  return <Code text={text} label={label} />
}

function Headers({ headers }: { headers: Readonly<Record<string, string>> }) {
  const all = Object.entries(headers)
  if (all.length === 0) return null
  return (
    <details className="headers" open>
      <summary>
        {words.headers} <span className="muted">{all.length}</span>
      </summary>
      <dl>
        {all.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

function pathOf(url: string): string {
  if (!URL.canParse(url)) return url
  const { pathname, search } = new URL(url)
  return `${pathname}${search}`
}
