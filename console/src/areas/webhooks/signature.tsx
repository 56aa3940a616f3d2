import { Button, NativeSelect } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { createApi, type Webhook } from '../../api/api.js'
import { webhookQuery } from '../../api/queries.js'
import { exactTime } from '../../format/times.js'
import { Copy } from '../../patterns/copy.js'
import { DetailTabs } from '../../patterns/detail-tabs.js'
import { Refusal } from '../../patterns/refusal.js'
import { usePlace } from '../../place/context.js'
import { texts } from '../../texts/en.js'
import { type Language, languages, verifierIn } from './verifiers.js'

const words = texts.webhooks.signature
const hour = 3_600
const overlaps = { none: 0, hour, day: 24 * hour, week: 7 * 24 * hour }
type Overlap = keyof typeof overlaps

/** The signing secret, which can be rotated with an overlap, and sample code that verifies signatures. */
export function Signature({ webhook }: { webhook: Webhook }) {
  const { may } = usePlace()
  return (
    <>
      {may('webhooks:write') && <Rotation webhook={webhook} />}
      <Verifier />
    </>
  )
}

function Rotation({ webhook: { id, name, has_secret: hasSecret } }: { webhook: Webhook }) {
  const { place } = usePlace()
  const queries = useQueryClient()
  const [overlap, setOverlap] = useState<Overlap>('day')
  const [isAsked, setAsked] = useState(false)
  const rotate = useMutation({
    mutationFn: () =>
      createApi(place).post('/webhooks/{id}/secrets/rotate', {
        params: { path: { id } },
        body: { overlapSeconds: overlaps[overlap] },
      }),
    onSettled: () => queries.invalidateQueries({ queryKey: webhookQuery(place, id).queryKey }),
  })
  const made = rotate.data?.data
  // Without an overlap, a receiver rejects all deliveries until it has the new secret.
  const isSharp = hasSecret && overlap === 'none'
  const press = () => {
    if (isSharp && !isAsked) return setAsked(true)
    setAsked(false)
    rotate.mutate()
  }
  return (
    <section className="replay-form">
      {hasSecret && (
        <NativeSelect
          size="xs"
          aria-label={words.overlap}
          value={overlap}
          onChange={({ currentTarget: { value } }) => {
            setOverlap(value as Overlap)
            setAsked(false)
          }}
          data={Object.keys(overlaps).map((value) => ({ value, label: words.overlaps[value as Overlap] }))}
        />
      )}
      <Button
        size="xs"
        variant={isAsked ? 'filled' : 'default'}
        {...(isAsked && { color: 'red' })}
        loading={rotate.isPending}
        onClick={press}
      >
        {isAsked ? words.endNow(name) : hasSecret ? words.rotate : words.begin}
      </Button>
      <Refusal error={rotate.error} />
      {typeof made?.secret === 'string' && (
        <p className="secret-once" role="status">
          <code className="ellipsis">{made.secret}</code>
          <Copy text={made.secret} />
          <span className="muted">
            {words.once} {made.overlap_until !== null && words.overlapUntil(exactTime(made.overlap_until))}
          </span>
        </p>
      )}
    </section>
  )
}

/** Complete receiver code without dependencies. */
function Verifier() {
  const [language, setLanguage] = useState<Language>('node')
  const code = verifierIn(language)
  return (
    <section>
      <header className="section-head">
        <h3>{words.verify}</h3>
        <span className="grow" />
        <DetailTabs<Language>
          label={words.language}
          className="tabs"
          tabs={languages}
          chosen={language}
          onChoose={setLanguage}
        />
      </header>
      <p className="muted detail-note">{words.verifyHelp}</p>
      <div className="code">
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
        <section className="code-scroll" aria-label={words.verify} tabIndex={0}>
          <pre>{code}</pre>
        </section>
        <span className="code-copy">
          <Copy text={code} />
        </span>
      </div>
    </section>
  )
}
