import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { tokenFrom } from '../../place/fragment.js'
import { rememberedPlace } from '../../place/place.js'
import { forgetProviderSignOut } from '../../place/provider-sign-out.js'
import { parseSignIn, signInPages } from '../../place/session.js'
import { Enrolment } from './enrolment.js'
import { Invitation } from './invitation.js'
import { Reset } from './reset.js'
import { SignIn } from './sign-in.js'

/** Starts the sign-in pages without the components of the other pages, so that the first script a browser loads is small. */
export function start(root: Element): void {
  const page = pageOf(location.pathname)
  if (page !== undefined) createRoot(root).render(<StrictMode>{page}</StrictMode>)
}

function pageOf(pathname: string) {
  const { to, workspace, ...asked } = parseSignIn(location)
  if (pathname === signInPages.invitation) return <Invitation token={tokenFrom(location, history)} />
  if (pathname === signInPages.reset) return <Reset token={tokenFrom(location, history)} />
  if (pathname === signInPages.enrolment) return <Enrolment to={to} />
  if (asked.isBack && asked.ssoRefusal === undefined) {
    location.replace(to)
    return undefined
  }
  return (
    <SignIn
      to={to}
      workspace={workspace ?? rememberedPlace(localStorage)?.workspace}
      providerSignOut={forgetProviderSignOut(sessionStorage)}
      {...asked}
    />
  )
}
