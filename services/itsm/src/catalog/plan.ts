import { invalidField, type PlannedTask } from '@opsplane/contracts'

/** Throws validation_failed naming a task whose key is already used, or one that could never begin. */
export function checkPlan(tasks: readonly PlannedTask[]): void {
  const keys = new Set<string>()
  for (const [index, { key }] of tasks.entries()) {
    if (keys.has(key))
      throw invalidField(`/tasks/${index}/key`, 'not_unique', 'There is another task of this key.')
    keys.add(key)
  }
  for (const [index, { dependsOn }] of tasks.entries()) {
    const unknown = dependsOn.findIndex((key) => !keys.has(key))
    if (unknown >= 0)
      throw invalidField(
        `/tasks/${index}/dependsOn/${unknown}`,
        'unknown_task',
        'There is no task of this key.',
      )
  }
  const stuck = tasks.findIndex(({ key }) => !reachable(tasks).has(key))
  if (stuck >= 0)
    throw invalidField(`/tasks/${stuck}/dependsOn`, 'cycle', 'The task waits, in the end, for itself.')
}

/** Returns the tasks that can be started once everything they depend on is done. */
function reachable(tasks: readonly PlannedTask[]): Set<string> {
  const done = new Set<string>()
  for (let before = -1; before < done.size; ) {
    before = done.size
    for (const { key, dependsOn } of tasks) if (dependsOn.every((needed) => done.has(needed))) done.add(key)
  }
  return done
}
