import type { ReactNode } from 'react'
import { Icon } from '../../patterns/icons.js'
import { texts } from '../../texts/en.js'

const words = texts.account

/** The account belongs to no workspace, so the page has no workspace navigation. */
export function AccountFrame({ children }: { children: ReactNode }) {
  return (
    <div className="account">
      <header className="page-head">
        <a href="/" className="row link">
          <Icon name="back" />
          {words.back}
        </a>
      </header>
      <main className="account-content">
        <h1>{words.title}</h1>
        {children}
      </main>
    </div>
  )
}

interface SectionProps {
  title: string
  help?: ReactNode
  /** Shown at the end of the title line. */
  end?: ReactNode
  children: ReactNode
}

export function Section({ title, help, end, children }: SectionProps) {
  return (
    <section className="setting">
      <header className="row">
        <h2>{title}</h2>
        <span className="grow" />
        {end}
      </header>
      {help && <p className="muted">{help}</p>}
      {children}
    </section>
  )
}
