import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { signInOf } from '../../place/session.js'
import { SignIn } from './sign-in.js'

/** It has neither the parts nor the pages of the rest: what somebody waits for first is small. */
export function start(root: Element): void {
  createRoot(root).render(
    <StrictMode>
      <SignIn {...signInOf(location.search)} />
    </StrictMode>,
  )
}
