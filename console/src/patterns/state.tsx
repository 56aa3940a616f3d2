import type { DeliveryStatus } from '../api/api.js'
import { texts } from '../texts/en.js'

export type Tone = 'good' | 'bad' | 'warn' | 'idle'

const tones: Record<DeliveryStatus | 'active' | 'paused', Tone> = {
  ...{ pending: 'idle', retrying: 'warn', succeeded: 'good', failed: 'bad', held: 'idle' },
  ...{ active: 'good', paused: 'warn' },
}

/** Each tone has its own icon, for people who do not distinguish colours. */
const signs = {
  good: (
    <path d="M7 1a6 6 0 1 0 0 12A6 6 0 0 0 7 1Zm2.9 4.6L6.5 9.3a.7.7 0 0 1-1 0L4 7.7l1-1 1 1.1 2.9-3.2 1 1Z" />
  ),
  bad: (
    <path d="M7 1a6 6 0 1 0 0 12A6 6 0 0 0 7 1Zm2.5 7.5-1 1L7 8 5.5 9.5l-1-1L6 7 4.5 5.5l1-1L7 6l1.5-1.5 1 1L8 7l1.5 1.5Z" />
  ),
  warn: <path d="M7 1a6 6 0 1 0 0 12A6 6 0 0 0 7 1Zm0 1.6A4.4 4.4 0 0 1 11.4 7H7V2.6Z" />,
  idle: <path d="M7 1a6 6 0 1 0 0 12A6 6 0 0 0 7 1Zm0 1.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9Z" />,
} as const

interface StateProps {
  of: keyof typeof tones
  /** The word is for screen readers only, because a visible element has the same meaning. */
  isBare?: boolean
}

/** A state as icon and word. */
export const State = ({ of, isBare = false }: StateProps) => (
  <Sign tone={tones[of]} isBare={isBare}>
    {texts.states[of]}
  </Sign>
)

interface SignProps {
  tone: Tone
  children: string
  isBare?: boolean
}

/** Icon and word of a state that only one area uses. */
export function Sign({ tone, children, isBare = false }: SignProps) {
  return (
    <span className={`state state-${tone}`}>
      <svg width="14" height="14" viewBox="0 0 14 14" fill="currentColor" aria-hidden="true">
        {signs[tone]}
      </svg>
      <span className={isBare ? 'visually-hidden' : undefined}>{children}</span>
    </span>
  )
}

export const toneOfStatus = (status: number): Tone => (status < 300 ? 'good' : status < 400 ? 'warn' : 'bad')

/** HTTP status of an endpoint's response. */
export function StatusCode({ status }: { status: number }) {
  return <span className={`code-status state-${toneOfStatus(status)}`}>{status}</span>
}
