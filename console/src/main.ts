import { applyColorScheme } from './place/color-scheme.js'
import { isSignInPage } from './place/session.js'

/**
 * Two programs: to sign in takes little, and what comes after it is loaded anew, so that nothing stays of who was here
 * before. Each is loaded where its address is gone to.
 */
applyColorScheme(document.documentElement, localStorage, matchMedia('(prefers-color-scheme: dark)').matches)
const root = document.querySelector('#console')
if (root) {
  const { start } = isSignInPage(location.pathname)
    ? await import('./areas/sign-in/start.js')
    : await import('./shell/start.js')
  start(root)
}
