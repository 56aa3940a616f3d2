import { applyColorScheme } from './place/color-scheme.js'
import { isSignInPage } from './place/session.js'

/**
 * Two separate programs: the sign-in is small, and the console is loaded from scratch after it, so that no data of a
 * previous person remains. The address decides which program is loaded.
 */
applyColorScheme(document.documentElement, localStorage, matchMedia('(prefers-color-scheme: dark)').matches)
const root = document.querySelector('#console')
if (root) {
  const { start } = isSignInPage(location.pathname)
    ? await import('./areas/sign-in/start.js')
    : await import('./shell/start.js')
  start(root)
}
