import { applyColorScheme } from './place/color-scheme.js'
import { isSignInPage } from './place/session.js'

/**
 * Two programs: the sign-in is small, and the rest is loaded from scratch after it, so that nothing remains of who was here
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
