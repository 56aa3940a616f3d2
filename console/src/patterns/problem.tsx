import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { describeError } from '../api/failure.js'
import { texts } from '../texts/en.js'
import { Copy } from './copy.js'
import { Icon } from './icons.js'

/** Shows an error: what happened, what to do, and the reference that operators search by. */
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
  /** The next step as a shell command. */
  command?: string
  children?: ReactNode
}

/** Shown for an empty list: what it would contain, and how to create it. */
export function Empty({ title, help, command, children }: EmptyProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {help !== undefined && <p className="muted">{help}</p>}
      {command !== undefined && (
        <>
          <div className="empty-command">
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard. */}
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
