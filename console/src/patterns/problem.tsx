import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { describeError } from '../api/failure.js'
import { texts } from '../texts/en.js'
import { Copy } from './copy.js'
import { Icon } from './icons.js'

/** What went wrong, what to do, and by what operators find it. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) {
  const { title, help, code, requestId, isPassing } = describeError(error)
  return (
    <div className="problem" role="alert">
      <span className="state-bad">
        <Icon name="failed" />
      </span>
      <div className="grow">
        <strong>{title}</strong>
        <p className="muted">{help}</p>
        {requestId !== undefined && (
          <p className="problem-id small muted">
            {code !== undefined && <code>{code}</code>}
            <span>{texts.common.requestId}</span>
            <code className="ellipsis">{requestId}</code>
            <Copy text={requestId} />
          </p>
        )}
      </div>
      {onRetry !== undefined && isPassing && (
        <Button size="xs" variant="default" onClick={onRetry}>
          {texts.common.retryRequest}
        </Button>
      )}
    </div>
  )
}

interface EmptyProps {
  title: string
  help?: string
  /** The next step, as one could take it by hand. */
  command?: string
  children?: ReactNode
}

/** Nothing is here: what would be, and how it comes. */
export function Empty({ title, help, command, children }: EmptyProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {help !== undefined && <p className="muted">{help}</p>}
      {command !== undefined && (
        <>
          <div className="empty-command">
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys as well. */}
            <pre tabIndex={0}>{command}</pre>
            <Copy text={command} />
          </div>
          {command.includes('$OPSPLANE_TOKEN') && <p className="small muted">{texts.common.commandHelp}</p>}
        </>
      )}
      {children}
    </div>
  )
}
