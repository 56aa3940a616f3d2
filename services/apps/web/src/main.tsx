import { createRoot } from 'react-dom/client'
import { createAppApi, randomKey } from './api.js'
import { createDrafts } from './page/drafts.js'
import { formatPlace, parseEmbedToken, parsePlace } from './place.js'
import { embedSession, personSession } from './session.js'
import { App } from './view/app.js'

const place = parsePlace(location)
const token = parseEmbedToken(location.hash)
const isEmbedded = token !== undefined || place.embedId !== undefined
// Removes the token from the address, and so from the history, before anything else.
if (token !== undefined) history.replaceState(null, '', formatPlace(place))
const session = isEmbedded ? embedSession(token) : personSession(sessionStorage)
const drafts = createDrafts(tabStorage(), randomKey)
const root = document.querySelector('#app')
if (root) createRoot(root).render(<App api={createAppApi(place, session)} {...{ session, drafts }} />)

/** A frame of another site may have no storage. */
function tabStorage(): Storage | undefined {
  try {
    return sessionStorage
  } catch {
    return undefined
  }
}
