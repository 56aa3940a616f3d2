import { stringifyExact } from '@opsplane/client'
import type { AuditEvent } from '../../api/api.js'
import { differences } from '../../format/differences.js'
import { Code } from '../../patterns/json.js'
import { texts } from '../../texts/en.js'

const words = texts.events

/** What the resource was before and is after, field by field; and what else the event says. */
export function Changes({ event: { data } }: { event: AuditEvent }) {
  const { before, after, changes: _, ...extras } = data
  const different = differences(before, withoutVersion(after))
  const title = before === null ? words.created : after === null ? words.deleted : undefined
  return (
    <>
      {different.length === 0 ? (
        <p className="muted detail-nothing">{words.unchanged}</p>
      ) : (
        <table className="changes">
          {title !== undefined && <caption>{title}</caption>}
          <thead>
            <tr>
              <th scope="col">{words.field}</th>
              {before !== null && <th scope="col">{words.before}</th>}
              {after !== null && <th scope="col">{words.after}</th>}
            </tr>
          </thead>
          <tbody>
            {different.map(({ path, before: was, after: is }) => (
              <tr key={path}>
                <th scope="row">{path}</th>
                {before !== null && (
                  <td>{was !== undefined && <Was text={was} isAlone={after === null} />}</td>
                )}
                {after !== null && <td>{is !== undefined && <Is text={is} isAlone={before === null} />}</td>}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {Object.keys(extras).length > 0 && (
        <section>
          <h3 className="section-head">{words.extras}</h3>
          <Code text={stringifyExact(extras)} label={words.extras} />
        </section>
      )}
    </>
  )
}

/** With the event comes the version that it made, which nobody has changed. */
function withoutVersion(after: AuditEvent['data']['after']) {
  if (after === null) return null
  const { version: _, ...fields } = after
  return fields
}

interface ValueProps {
  text: string
  /** There is nothing to compare it with. */
  isAlone: boolean
}

const Was = ({ text, isAlone }: ValueProps) =>
  isAlone ? (
    <code>{readable(text)}</code>
  ) : (
    <del>
      <code>{readable(text)}</code>
    </del>
  )
const Is = ({ text, isAlone }: ValueProps) =>
  isAlone ? (
    <code>{readable(text)}</code>
  ) : (
    <ins>
      <code>{readable(text)}</code>
    </ins>
  )

/** A string without its quotes: what somebody has written is read as it was written. */
function readable(text: string): string {
  return text.startsWith('"') ? String(JSON.parse(text)) : text
}
