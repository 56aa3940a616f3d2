import { type ReactNode, useEffect } from 'react'
import { Mark } from '../../shell/mark.js'
import { texts } from '../../texts/en.js'

/** Around everything that one does before one is in. */
export function SignInFrame({
  title,
  help,
  children,
}: {
  title: string
  help?: ReactNode
  children: ReactNode
}) {
  useEffect(() => {
    document.title = `${title} · ${texts.product}`
  }, [title])
  return (
    <main className="sign-in">
      <div className="sign-in-form steps">
        <Mark size={32} />
        <h1>{title}</h1>
        {help && <p className="muted">{help}</p>}
        {children}
      </div>
    </main>
  )
}
