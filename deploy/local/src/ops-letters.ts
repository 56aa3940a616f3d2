import { type BackendName, backendNames } from '@opsplane/contracts'
import { LettersError, learnAllLetters } from '@opsplane/postgres'
import { explainDatabaseError, OpsError } from './ops-target.js'
import { type OpsTask, rebuildServices, schemaOf } from './ops-tasks.js'

/**
 * Lets a database made with the locale C know the letters of all scripts, and folds the read models anew whose words were
 * made without. Safe to repeat, also after a failure in between. Throws OpsError.
 */
export async function foldCase(
  task: Omit<OpsTask, 'services'>,
): Promise<{ service: BackendName; events: number }[]> {
  const { changed, schemas } = await learn(task.target.databaseUrl())
  task.say?.(
    `Postgres ${changed ? 'knows all letters now' : 'knew all letters before'}; its sessions were ended`,
  )
  return rebuildServices({
    ...task,
    services: backendNames.filter((name) => schemas.includes(schemaOf(name))),
  })
}

async function learn(databaseUrl: string) {
  try {
    return await learnAllLetters(databaseUrl)
  } catch (error) {
    if (error instanceof LettersError) throw new OpsError('refused', error.message)
    throw explainDatabaseError(error, databaseUrl)
  }
}
