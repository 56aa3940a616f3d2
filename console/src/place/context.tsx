import { createContext, use } from 'react'
import type { Me } from '../api/api.js'
import type { Place } from './place.js'

/** Workspace and environment, the person, and their permissions there. */
export interface Here {
  place: Place
  me: Me
  may(permission: string): boolean
}

export const HereContext = createContext<Here | undefined>(undefined)

/** The place of the current page; throws outside of the shell. */
export function usePlace(): Here {
  const here = use(HereContext)
  if (here === undefined) throw new Error('There is no place outside the shell.')
  return here
}
